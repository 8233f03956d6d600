import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createRandom } from './random.ts';

/** Tests that start programs, run many random cases or wait for timeouts, which take longest. */
const LONG = /\/test\/(clients|law|process|property|replicas)\/|\/(golden|timed-statements)\.test\.ts$/;
/** The part of a project in which its long files begin. At the end, one of them would leave the other workers without work. */
const PART = 0.7;

/** Shuffles the files of each project by the seed of the run. Files of one project stay together, because they share processes. */
export class ShuffledSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = createRandom(this.ctx.config.sequence.seed);
    const keyed = files
      .toSorted((a, b) => compare(nameOf(a), nameOf(b)))
      .map((file) => ({ file, key: random() * (LONG.test(file.moduleId) ? PART : 1) }));
    return keyed.toSorted((a, b) => compare(a.file.project.name, b.file.project.name) || a.key - b.key).map(({ file }) => file);
  }
}

function nameOf({ project, moduleId }: TestSpecification): string {
  return `${project.name} ${moduleId}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
