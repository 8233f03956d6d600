/** The service where `__proto__` is gone and nothing inherited can be changed: whoever relies on either fails here. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('answers values of every wrong shape through every door, and never with a fault', async () => {
  const program = fileURLToPath(new URL('frozen.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--disable-proto=delete', program], { timeout: 60_000 });
  const { answered, ...rest } = JSON.parse(stdout) as { readonly answered: number };
  expect(rest).toEqual({ failures: [], isPolluted: false, isWell: true });
  expect(answered).toBeGreaterThan(1000);
}, 60_000);
