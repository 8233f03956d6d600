import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLazySavepoints, type LazySavepoints } from './savepoints.ts';

describe('late marks', () => {
  let told: string[];
  let marks: LazySavepoints;
  beforeEach(() => {
    told = [];
    marks = createLazySavepoints((sql) => void told.push(sql));
  });

  it('are told when something may have to be undone', () => {
    marks.open('a');
    expect(told).toEqual([]);
    marks.send();
    marks.send();
    marks.open('b');
    marks.send();
    expect(told).toEqual(['SAVEPOINT a', 'SAVEPOINT b']);
  });

  it('are one to the database where nothing was written between their beginnings, and end with the outermost', () => {
    marks.open('a');
    marks.open('b');
    marks.open('c');
    marks.send();
    marks.undo('c');
    marks.release('c');
    marks.release('b');
    marks.open('d');
    marks.send();
    marks.release('d');
    marks.release('a');
    expect(told).toEqual(['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'SAVEPOINT d', 'RELEASE SAVEPOINT d', 'RELEASE SAVEPOINT a']);
  });

  it('are nothing to the database where nothing was written in them', () => {
    marks.open('a');
    marks.open('b');
    marks.undo('b');
    marks.release('b');
    marks.release('a');
    marks.send();
    expect(told).toEqual([]);
  });

  it('are undone and released where it knows them, whatever it does not know within', () => {
    marks.open('a');
    marks.send();
    marks.open('b');
    marks.undo('a');
    marks.open('c');
    marks.release('a');
    marks.send();
    expect(told).toEqual(['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT a']);
  });

  it('that were undone are open still', () => {
    marks.open('a');
    marks.open('b');
    marks.undo('a');
    marks.send();
    expect(told).toEqual(['SAVEPOINT a']);
  });

  it('are the transaction where it begins in them, and undone as a whole, again and again', () => {
    marks.open('a');
    marks.open('b');
    marks.begin(() => void told.push('ROLLBACK'));
    marks.open('c');
    marks.send();
    marks.undo('b');
    marks.release('b');
    marks.open('d');
    marks.begin(() => void told.push('ROLLBACK'));
    marks.release('d');
    marks.undo('a');
    marks.release('a');
    expect(told).toEqual(['SAVEPOINT c', 'ROLLBACK', 'ROLLBACK']);
  });

  it('are over with what they were in', () => {
    marks.open('a');
    marks.clear();
    marks.send();
    expect(told).toEqual([]);
  });
});

/** What is done in a savepoint, in order: a value is written, or another savepoint is opened, which is kept or undone. */
type Deed = number | { readonly kept: boolean; readonly deeds: readonly Deed[] };

const { deeds } = fc.letrec<{ deeds: Deed[]; deed: Deed }>((tie) => ({
  deeds: fc.array(tie('deed'), { maxLength: 4 }),
  deed: fc.oneof({ maxDepth: 5 }, fc.nat(9), fc.record({ kept: fc.boolean(), deeds: tie('deeds') })),
}));

it('leaves what savepoints of its own for each would leave', () => {
  const driver = new BetterSqlite3(':memory:');
  driver.exec('CREATE TABLE "T" ("n" INTEGER)');
  const marks = createLazySavepoints((text) => void driver.exec(text));
  const write = driver.prepare('INSERT INTO "T" VALUES (?)');

  function run(all: readonly Deed[], depth: number): void {
    for (const deed of all) {
      if (typeof deed === 'number') {
        marks.send();
        write.run(deed);
        continue;
      }
      marks.open(`s${depth}`);
      run(deed.deeds, depth + 1);
      if (!deed.kept) marks.undo(`s${depth}`);
      marks.release(`s${depth}`);
    }
  }
  const left = (all: readonly Deed[]): readonly number[] =>
    all.flatMap((deed) => (typeof deed === 'number' ? [deed] : deed.kept ? left(deed.deeds) : []));

  fc.assert(
    fc.property(deeds, (all) => {
      marks.clear();
      driver.exec('BEGIN; DELETE FROM "T"');
      run(all, 1);
      driver.exec('COMMIT');
      expect(driver.prepare('SELECT "n" FROM "T" ORDER BY rowid').pluck().all()).toEqual(left(all));
    }),
    { numRuns: 500 },
  );
});
