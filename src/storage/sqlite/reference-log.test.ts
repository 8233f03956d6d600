import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database } from '../contract.ts';
import { openSqlite } from './database.ts';
import { ReferenceLog } from './reference-log.ts';
import { type Family, openFamily } from './sqlite.fixture.ts';

let family: Family;
/** Another process on the same file. */
let other: Database;
beforeEach(async () => {
  family = await openFamily();
  await family.database.transaction((tx) =>
    tx.run(sql`CREATE TABLE "_State" ("id" TEXT PRIMARY KEY NOT NULL, "number" INTEGER, "text" TEXT) STRICT`),
  );
  other = openSqlite({ path: family.path });
});
afterEach(async () => {
  await other.close();
  await family.dispose();
});

const note = (database: Database, id: string) => database.transaction(async (tx) => tx.noteReferences('Node', [id]));
const stateOf = (ids: readonly string[], table = 'Node') => family.database.transaction((tx) => tx.loadReferenceState(table, ids));

describe('the state of references', () => {
  it('changes with each commit that adds a reference to one of the records, of this process or another', async () => {
    const states = [await stateOf(['a', 'b'])];
    for (const database of [family.database, family.database, other]) {
      await note(database, 'b');
      states.push(await stateOf(['a', 'b']));
    }
    expect(new Set(states).size).toBe(4);
  });

  it('does not change with references to other records, or to records of another table', async () => {
    const before = [await stateOf(['a']), await stateOf(['b'], 'Page')];
    await note(other, 'b');
    expect([await stateOf(['a']), await stateOf(['b'], 'Page')]).toEqual(before);
  });

  it('changes when a backup is restored', async () => {
    const before = await stateOf(['a']);
    await other.transaction((tx) => tx.run(sql`INSERT INTO "_State" ("id", "text") VALUES ('restored', 'x')`));
    expect(await stateOf(['a'])).not.toBe(before);
  });

  it('a deletion searches again after a reference of another process, or of an earlier unit of work of the same commit', async () => {
    const searchAgain = async (state: string, before: () => Promise<void>) => {
      const attempts: string[] = [];
      const adding = before();
      const deleting = family.database.transaction(async (tx) => {
        attempts.push(tx.attempt);
        if (attempts.length > 1) return;
        await tx.requireNoNewReferences('Node', ['a'], state);
      });
      await Promise.all([adding, deleting]);
      return attempts;
    };
    const state = await stateOf(['a']);
    expect(await searchAgain(state, async () => undefined)).toEqual(['short']);
    expect(await searchAgain(state, () => note(family.database, 'a'))).toEqual(['short', 'long']);
    expect(await searchAgain(state, async () => undefined)).toEqual(['short', 'long']);
    const later = await stateOf(['a']);
    await note(other, 'a');
    expect(await searchAgain(later, async () => undefined)).toEqual(['short', 'long']);
  });
});

it('a transaction begins without the references of one that was rolled back', () => {
  const log = new ReferenceLog();
  log.add('Node', ['a']);
  expect([log.has('Node', ['b', 'a']), log.has('Node', ['b'])]).toEqual([true, false]);
  log.begin();
  expect([log.has('Node', ['a']), log.toStatement()]).toEqual([false, undefined]);
});
