import { type Profiler, Session } from 'node:inspector/promises';

/** Number of source files and functions that ran, and of calls of these functions. */
export interface Path {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
}

const SOURCES = new URL('../../src/', import.meta.url).href;

/** Requests over which calls are averaged, because some work runs once for several requests. */
const REQUESTS = 20;
/** Requests whose functions are counted one by one. The smallest number counts, because some requests also do other work, such as reading the clock of the server. */
const SINGLE_REQUESTS = 5;

/**
 * Counts the files and functions of src/ that one warm request runs, by V8's precise coverage, and the calls of functions of src/ that a
 * request makes on average. A function that runs twice is one function and two calls.
 */
export async function pathOf(send: () => Promise<void>): Promise<Path> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const countsOf = async (times: number): Promise<readonly (readonly number[])[]> => {
    await session.post('Profiler.takePreciseCoverage');
    for (let count = 0; count < times; count++) await send();
    return toCounts((await session.post('Profiler.takePreciseCoverage')).result);
  };
  const runs: (readonly (readonly number[])[])[] = [];
  for (let count = 0; count < SINGLE_REQUESTS; count++) runs.push(await countsOf(1));
  const ran = runs.reduce((fewest, run) => (run.flat().length < fewest.flat().length ? run : fewest));
  const called = await countsOf(REQUESTS);
  session.disconnect();
  return {
    files: ran.length,
    functions: ran.flat().length,
    calls: called.flat().reduce((sum, calls) => sum + calls, 0) / REQUESTS,
  };
}

/** Returns how often the functions of each file of src/ ran, without those that did not. */
function toCounts(scripts: readonly Profiler.ScriptCoverage[]): readonly (readonly number[])[] {
  return scripts
    .filter(({ url }) => url.startsWith(SOURCES))
    .map(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0).filter((count) => count > 0))
    .filter((counts) => counts.length > 0);
}
