import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure, Measurement } from '../measurement.ts';

const COUNTER = fileURLToPath(new URL('counter.ts', import.meta.url));

/** Flags for a separate process without background compilation: earlier code and the time of compilation change the allocations. */
const FLAGS = ['--max-semi-space-size=16', '--single-threaded'];

/** Counts allocations and statements. */
export const count: Measurement = {
  name: 'count',
  description:
    'Counts, which are the same on a busy machine: the bytes that a decision and a request allocate (a request in one process with its client, which allocates almost nothing), the SQL statements of a request, including BEGIN and COMMIT, the source files and functions that a request runs, and the calls of these functions.',
  optionNames: [],
  async run(_options, onFigure) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, COUNTER], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`expected ${COUNTER} to end with 0, given ${status}: ${stderr}`);
    for (const figure of JSON.parse(stdout) as readonly Figure[]) onFigure(figure);
  },
};
