/** The use of the event loop and of the processors, in milliseconds since the start of the process. */
export interface ProcessUsage {
  /** The time in which the event loop waited for events. */
  readonly idle: number;
  /** The time in which it had work. */
  readonly active: number;
  /** The processor time of all threads. */
  readonly processor: number;
}

/** There is contention if the event loop had work, but no processor, for this share of the time. */
const SHARE = 0.15;
/** Minimum milliseconds over which the share is measured. */
const PERIOD = 50;

/**
 * Creates a function that returns true if this process competes with others for processors: in the last period, its event loop had work and waited for a
 * processor. The processor time of other threads of this process hides a part of the wait.
 */
export function createContentionCheck(read: () => ProcessUsage = readUsage): () => boolean {
  let since = read();
  let isContended = false;
  return () => {
    const now = read();
    const active = now.active - since.active;
    const elapsed = active + now.idle - since.idle;
    if (elapsed >= PERIOD) {
      isContended = active - (now.processor - since.processor) >= SHARE * elapsed;
      since = now;
    }
    return isContended;
  };
}

function readUsage(): ProcessUsage {
  const { idle, active } = performance.eventLoopUtilization();
  const { user, system } = process.cpuUsage();
  return { idle, active, processor: (user + system) / 1000 };
}
