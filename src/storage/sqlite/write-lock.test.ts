import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from './database.ts';
import { codeOf, type Family, insert, openFamily, parentsOf } from './sqlite.fixture.ts';

let family: Family;
let other: Sqlite.Database;
beforeEach(async () => {
  family = await openFamily();
  other = new Sqlite(family.path);
});
afterEach(async () => {
  other.close();
  await family.dispose();
});

describe('the write lock', () => {
  it('a process that waits for the lock goes on with other work, and commits all that arrived meanwhile at once', async () => {
    const database = openSqlite({ path: family.path, busyTimeout: 60_000, maxBatchTime: Number.POSITIVE_INFINITY });
    other.exec('BEGIN IMMEDIATE');
    const before = database.metrics.commits;
    const first = database.transaction((tx) => insert(tx, 'a'));
    let turns = 0;
    // The event loop of a process that SQLite blocks would not come to a second turn.
    for (; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
    const second = database.transaction((tx) => insert(tx, 'b'));
    other.exec('ROLLBACK');
    await Promise.all([first, second]);
    expect([await parentsOf(database), database.metrics.commits - before]).toEqual([['a', 'b'], 1]);
    await database.close();
  });

  it('a wait for the lock ends after the busy timeout, and rejects what has waited', async () => {
    other.exec('BEGIN IMMEDIATE');
    const rejected = ['a', 'b'].map((id) => codeOf(family.database.transaction((tx) => insert(tx, id))));
    expect(await Promise.all(rejected)).toEqual(['STORAGE_BUSY', 'STORAGE_BUSY']);
    other.exec('ROLLBACK');
    await family.database.transaction((tx) => insert(tx, 'c'));
    expect(await family.ids()).toEqual(['c']);
  });
});
