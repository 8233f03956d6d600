import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Shuffles the files of each project by the seed of the run. Files of one project stay together, because they share processes. */
export class ShuffledSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = createRandom(this.ctx.config.sequence.seed);
    const keyed = files.toSorted((a, b) => compare(nameOf(a), nameOf(b))).map((file) => ({ file, key: random() }));
    return keyed.toSorted((a, b) => compare(a.file.project.name, b.file.project.name) || a.key - b.key).map(({ file }) => file);
  }
}

function nameOf({ project, moduleId }: TestSpecification): string {
  return `${project.name} ${moduleId}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a generator of numbers from 0 to 1 (mulberry32): the same seed gives the same numbers. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
