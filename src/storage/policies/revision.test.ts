import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import { migrate } from '../migrations/migrate.ts';
import { onCommit } from '../sqlite/sqlite.fixture.ts';
import { failure, onPostgres, openTestDatabase, type TestDatabase } from '../storage.fixture.ts';
import { advanceRevision, currentRevision, loadRevision, type Revision } from './revision.ts';

let test: TestDatabase;

beforeEach(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
});
afterEach(() => test.dispose());

/** Advances the revision, and collects the new one as its transaction sees it. */
async function change(seen: Revision[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    await advanceRevision(tx);
    seen.push(await loadRevision(tx));
  });
}

describe('the revision', () => {
  it('the revision starts at 0 and advances by one', async () => {
    await test.database.transaction((tx) => tx.run(sql`DELETE FROM "_State"`));
    expect(await test.database.transaction(currentRevision)).toBe(0);
    expect(await test.database.transaction(advanceRevision)).toBe(1);
    expect(await test.database.transaction(advanceRevision)).toBe(2);
    expect(await test.database.transaction(currentRevision)).toBe(2);
  });

  it('the revision counts changes, and has a new stamp after each', async () => {
    const before = await test.database.transaction(loadRevision);
    const seen: Revision[] = [];
    await change(seen);
    await change(seen);
    expect(seen.map(({ number }) => number - before.number)).toEqual([1, 2]);
    expect(new Set([before, ...seen].map(({ stamp }) => stamp)).size).toBe(3);
    expect(await test.database.transaction(currentRevision)).toBe(before.number + 2);
  });

  it.skipIf(onPostgres)('the revision reuses the number of a change that was rolled back, and not its stamp', async () => {
    const seen: Revision[] = [];
    await test.database.transaction(async (tx) => {
      const rolledBack = tx.savepoint(async () => {
        await advanceRevision(tx);
        seen.push(await loadRevision(tx));
        throw new Error('rolled back');
      });
      await failure(rolledBack);
    });
    {
      using _ = onCommit(() => {
        throw new Error('disk');
      });
      await failure(change(seen));
    }
    await change(seen);
    expect(new Set(seen.map(({ number }) => number)).size).toBe(1);
    expect(new Set(seen.map(({ stamp }) => stamp)).size).toBe(3);
  });
});
