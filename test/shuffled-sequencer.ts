import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createRandom } from './random.ts';

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
