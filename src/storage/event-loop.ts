/** The share of time in which the event loop of a busy process works. */
const BUSY = 0.7;
/** Minimum milliseconds in which the share is measured. */
const PERIOD = 50;

/** Creates a function that returns true if the event loop of this process has been busy for most of the last milliseconds. */
export function createBusyCheck(): () => boolean {
  let since = performance.eventLoopUtilization();
  let share = 0;
  return () => {
    const { active, idle, utilization } = performance.eventLoopUtilization(since);
    if (active + idle >= PERIOD) {
      since = performance.eventLoopUtilization();
      share = utilization;
    }
    return share >= BUSY;
  };
}
