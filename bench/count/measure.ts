import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure, Measurement } from '../measurement.ts';

const COUNTER = fileURLToPath(new URL('counter.ts', import.meta.url));

/** In a process and a thread of its own: what ran before, and when it was compiled beside what runs, says what code allocates. */
const FLAGS = ['--max-semi-space-size=16', '--single-threaded'];

/** What is counted instead of timed. */
export const count: Measurement = {
  name: 'count',
  about:
    'What is counted, and so the same on a busy machine: the bytes that a decision and a request leave to the garbage collector (a request with its client, in one process), and the statements that a request makes, BEGIN and COMMIT among them.',
  goesBy: [],
  async run(_options, tell) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, COUNTER], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`expected ${COUNTER} to end with 0, given ${status}: ${stderr}`);
    for (const figure of JSON.parse(stdout) as readonly Figure[]) tell(figure);
  },
};
