/** Reads the use of the event loop and of the processors, in milliseconds since the start of the process. */
export interface ProcessUsage {
  /** Returns the times in which the event loop waited for events and in which it had work. */
  loop(): { readonly idle: number; readonly active: number };
  /** Returns the processor time of all threads. Reading it takes ten times as long. */
  processor(): number;
}

/** There is contention if the event loop had work, but no processor, for this share of the time. */
const SHARE = 0.15;
/** Minimum milliseconds over which the share is measured. */
const PERIOD = 50;

/**
 * Creates a function that returns true if this process competes with others for processors: in the last period, its event loop had work and waited for a
 * processor. The processor time of other threads of this process hides a part of the wait.
 */
export function createContentionCheck(usage: ProcessUsage = OF_PROCESS): () => boolean {
  let since = { ...usage.loop(), processor: usage.processor() };
  let isContended = false;
  return () => {
    const now = usage.loop();
    const active = now.active - since.active;
    const elapsed = active + now.idle - since.idle;
    if (elapsed >= PERIOD) {
      const processor = usage.processor();
      isContended = active - (processor - since.processor) >= SHARE * elapsed;
      since = { ...now, processor };
    }
    return isContended;
  };
}

const OF_PROCESS: ProcessUsage = {
  loop: () => performance.eventLoopUtilization(),
  processor() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};
