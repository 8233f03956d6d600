/**
 * Counts the steps of all parsers that read texts of callers. If the text doubles, the number may grow only by a constant factor. Loops inside
 * Node.js, such as `indexOf`, are no steps of these parsers: `test/long/linear-time.test.ts` times them.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PARSERS } from './parsers.ts';

interface Counted {
  readonly name: string;
  readonly steps: readonly [shorter: number, longer: number];
}

/** Maximum factor when the text doubles: the steps of a linear parser grow by 2, those of a quadratic parser by 4. */
const GROWTH = 2.2;

const counted = await countSteps();

it.each(PARSERS)('parses $name in a number of steps that grows with the text', ({ name, texts }) => {
  const cases = counted.filter((each) => each.name === name);
  expect(cases).toHaveLength(texts.length);
  expect(cases.filter(({ steps: [shorter, longer] }) => longer > GROWTH * shorter)).toEqual([]);
  expect(Math.max(...cases.map(({ steps: [, longer] }) => longer))).toBeGreaterThan(0);
});

/** Counts in another process: this one has loaded the parsers already. A compile cache would contain code that does not count. */
async function countSteps(): Promise<readonly Counted[]> {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL('count-steps.ts', import.meta.url))], {
    env,
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout) as readonly Counted[];
}
