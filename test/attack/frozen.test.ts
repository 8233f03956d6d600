/** The service works without `__proto__` and with frozen prototypes: code that relies on either fails here. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('answers values of every wrong type on every route, and never with a 500', async () => {
  const program = fileURLToPath(new URL('frozen.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--disable-proto=delete', program], { timeout: 60_000 });
  const { answered, ...rest } = JSON.parse(stdout) as { readonly answered: number };
  expect(rest).toEqual({ failures: [], isPolluted: false, isWell: true });
  expect(answered).toBeGreaterThan(1000);
});
