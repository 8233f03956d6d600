import { createSecretKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { startAuthentication } from './authentication.fixture.ts';
import { noteTokenKey } from './note-token-key.ts';
import type { TokenKey } from './signing-key.ts';

function keyOf(secret: string): TokenKey {
  const key = createSecretKey(Buffer.from(secret.repeat(32)));
  return { algorithm: 'HS256', signing: key, verifying: key };
}

it('a start with another token key than the previous start has a notice, and the first start has none', async () => {
  const test = await startAuthentication();
  const start = (secret: string): Promise<readonly string[]> => test.database.transaction((tx) => noteTokenKey(tx, keyOf(secret)));
  const notice = expect.stringContaining('give all of them the same key');
  expect([await start('a'), await start('a'), await start('b'), await start('b'), await start('a')]).toEqual([
    [],
    [],
    [notice],
    [],
    [notice],
  ]);
  expect(JSON.stringify(await test.rows('select "text" from "_State"'))).not.toContain('aaaa');
});
