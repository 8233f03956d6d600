import { Session } from 'node:inspector/promises';

/** Number of source files and functions that ran. */
export interface Path {
  readonly files: number;
  readonly functions: number;
}

const SOURCES = new URL('../../src/', import.meta.url).href;

/** Counts the files and functions of src/ that one warm request runs, by V8's precise coverage. A function that runs twice counts once. */
export async function pathOf(send: () => Promise<void>): Promise<Path> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await send();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const ran = result
    .filter(({ url }) => url.startsWith(SOURCES))
    .map(({ functions }) => functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length);
  return { files: ran.filter((count) => count > 0).length, functions: ran.reduce((sum, count) => sum + count, 0) };
}
