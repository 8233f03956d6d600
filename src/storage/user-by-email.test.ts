import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from './migrations/migrate.ts';
import { insertRecord } from './records.ts';
import { define, openTestDatabase, resourceOf, toRecord } from './storage.fixture.ts';
import { loadUserByEmail } from './user-by-email.ts';

const definitions = define({});
const user = resourceOf(definitions, 'User');
const test = openTestDatabase();

beforeAll(async () => {
  await migrate(test.database, definitions);
  await test.database.transaction((tx) => insertRecord(tx, user, toRecord('u1', { email: 'ada@example.org' })));
});
afterAll(() => test.dispose());

describe('loadUserByEmail', () => {
  const load = (email: string, forUpdate = false) => test.database.transaction((tx) => loadUserByEmail(tx, user, { email, forUpdate }));

  it.for([false, true])('finds a user by an email in other case and with spaces around it, with forUpdate %s', async (forUpdate) => {
    expect(await load('  Ada@Example.org ', forUpdate)).toMatchObject({ email: 'ada@example.org' });
  });

  it('refuses an unknown email and names a similar one', async () => {
    await expect(load('ada@exmaple.org')).rejects.toMatchObject({
      code: 'USER_UNKNOWN',
      message: expect.stringContaining('ada@example.org'),
    });
  });
});
