import { median } from '../statistics.ts';

/** Of one figure: the median of so many. */
const SAMPLES = 9;

/** Bytes that one of the `times` times allocates for which `work` does what it does; for nobody else to do anything meanwhile. */
export async function allocatedBy(work: () => Promise<void> | void, times: number): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = process.memoryUsage().heapUsed;
    await work();
    samples.push((process.memoryUsage().heapUsed - before) / times);
  }
  // Where the garbage was collected meanwhile, less is in use than before: that says nothing.
  return Math.round(median(samples.filter((bytes) => bytes > 0)));
}
