/**
 * Runs work while each reading of the monotonic clock of this process is `step` milliseconds further ahead of the real time. Afterwards, the clock runs
 * at its normal speed and stays ahead: a clock that goes back would let timers of the service wait for the time that it lost.
 */
export async function withFastClock<T>(step: number, work: () => Promise<T>): Promise<T> {
  const read = performance.now.bind(performance);
  let ahead = 0;
  let isFast = true;
  performance.now = () => {
    if (isFast) ahead += step;
    return read() + ahead;
  };
  try {
    return await work();
  } finally {
    isFast = false;
  }
}
