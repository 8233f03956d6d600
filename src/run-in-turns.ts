/** Work in steps, between which the event loop runs other requests. */

/** Waits until the event loop has handled what arrived meanwhile. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Runs each step in a turn of the event loop of its own, and returns the result. */
export async function runInTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}
