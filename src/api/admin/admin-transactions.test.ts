/** Tests dry runs, with a database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { insertRecord, loadUserByEmail, migrate, type Transaction } from '../../storage/index.ts';
import { define, openTestDatabase, resourceOf, toRecord } from '../../storage/storage.fixture.ts';
import { runDry } from './dry-run.ts';

const definitions = define({});
const user = resourceOf(definitions, 'User');
const test = openTestDatabase();
const countUsers = () => test.database.transaction((tx) => tx.one<{ count: number }>(sql`select count(*) as "count" from "User"`));
const insert = (tx: Transaction, id: string, email: string) => insertRecord(tx, user, toRecord(id, { email }));

beforeAll(async () => {
  await migrate(test.database, definitions);
  await test.database.transaction((tx) => insert(tx, 'u1', 'ada@example.org'));
});
afterAll(() => test.dispose());

describe('runDry', () => {
  it('returns the result of changes and rolls them back', async () => {
    const result = await test.database.transaction((tx) =>
      runDry(tx, async () => {
        await insert(tx, 'u2', 'grace@example.org');
        return (await loadUserByEmail(tx, user, { email: 'grace@example.org', forUpdate: false }))['email'];
      }),
    );
    expect(result).toBe('grace@example.org');
    expect(Number((await countUsers())?.count)).toBe(1);
  });

  it('passes the error of changes on', async () => {
    const dry = test.database.transaction((tx) =>
      runDry(tx, () => {
        throw new RangeError('refused');
      }),
    );
    await expect(dry).rejects.toThrow(RangeError);
  });
});
