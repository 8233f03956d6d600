/**
 * The program of `parsing-steps.test.ts`: runs the parsers on texts of two lengths, and prints the number of executed blocks of `src/` for
 * each. V8 counts blocks exactly, so the numbers do not depend on the machine. It counts only modules that are loaded after the count began.
 */
import { type Profiler, Session } from 'node:inspector/promises';

const LENGTHS = [2000, 4000];

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const { PARSERS, textOf, tryParse } = await import('./parsers.ts');

const found: object[] = [];
await takeSteps();
for (const { name, parse, texts } of PARSERS)
  for (const text of texts) {
    const steps: number[] = [];
    for (const length of LENGTHS) {
      await tryParse(parse, textOf(text, length));
      steps.push(await takeSteps());
    }
    found.push({ name, ...text, steps });
  }
process.stdout.write(JSON.stringify(found));

/** Returns the number of blocks of `src/` that were executed since the last call. */
async function takeSteps(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ranges = result.filter(({ url }: Profiler.ScriptCoverage) => url.includes('/src/')).flatMap(({ functions }) => functions);
  return ranges.flatMap((each) => each.ranges).reduce((sum, { count }) => sum + count, 0);
}
