import { median } from '../statistics.ts';

/** Samples whose median is the figure. */
const SAMPLES = 9;

/** Returns the bytes that one repetition allocates, where `work` repeats something `times` times. Nothing else may run meanwhile. */
export async function allocatedBy(work: () => Promise<void> | void, times: number): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = process.memoryUsage().heapUsed;
    await work();
    samples.push((process.memoryUsage().heapUsed - before) / times);
  }
  // A sample with a garbage collection is not usable: less memory is in use than before.
  return Math.round(median(samples.filter((bytes) => bytes > 0)));
}
