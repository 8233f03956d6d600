import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { casesOf } from '../../test/budget.ts';
import { createLazySavepoints, type LazySavepoints } from './savepoints.ts';

describe('lazy savepoints', () => {
  let sent: string[];
  let savepoints: LazySavepoints;
  beforeEach(() => {
    sent = [];
    savepoints = createLazySavepoints((sql) => void sent.push(sql));
  });

  it('sends a savepoint before the first write in it', () => {
    savepoints.open('a');
    expect(sent).toEqual([]);
    savepoints.send();
    savepoints.send();
    savepoints.open('b');
    savepoints.send();
    expect(sent).toEqual(['SAVEPOINT a', 'SAVEPOINT b']);
  });

  it('shares one SAVEPOINT among savepoints without a write between their beginnings', () => {
    savepoints.open('a');
    savepoints.open('b');
    savepoints.open('c');
    savepoints.send();
    savepoints.undo('c');
    savepoints.release('c');
    savepoints.release('b');
    savepoints.open('d');
    savepoints.send();
    savepoints.release('d');
    savepoints.release('a');
    expect(sent).toEqual(['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'SAVEPOINT d', 'RELEASE SAVEPOINT d', 'RELEASE SAVEPOINT a']);
  });

  it('does not send a savepoint if nothing was written in it', () => {
    savepoints.open('a');
    savepoints.open('b');
    savepoints.undo('b');
    savepoints.release('b');
    savepoints.release('a');
    savepoints.send();
    expect(sent).toEqual([]);
  });

  it('rolls back and releases a savepoint only if it was sent', () => {
    savepoints.open('a');
    savepoints.send();
    savepoints.open('b');
    savepoints.undo('a');
    savepoints.open('c');
    savepoints.release('a');
    savepoints.send();
    expect(sent).toEqual(['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT a']);
  });

  it('a savepoint stays open after a rollback', () => {
    savepoints.open('a');
    savepoints.open('b');
    savepoints.undo('a');
    savepoints.send();
    expect(sent).toEqual(['SAVEPOINT a']);
  });

  it('a transaction that begins in savepoints implements them, also repeatedly', () => {
    savepoints.open('a');
    savepoints.open('b');
    savepoints.begin(() => void sent.push('ROLLBACK'));
    savepoints.open('c');
    savepoints.send();
    savepoints.undo('b');
    savepoints.release('b');
    savepoints.open('d');
    savepoints.begin(() => void sent.push('ROLLBACK'));
    savepoints.release('d');
    savepoints.undo('a');
    savepoints.release('a');
    expect(sent).toEqual(['SAVEPOINT c', 'ROLLBACK', 'ROLLBACK']);
  });

  it('forgets savepoints with their transaction', () => {
    savepoints.open('a');
    savepoints.clear();
    savepoints.send();
    expect(sent).toEqual([]);
  });
});

describe('savepoints of an attempt that can end', () => {
  let events: string[];
  let savepoints: LazySavepoints;
  beforeEach(() => {
    events = [];
    savepoints = createLazySavepoints((sql) => void events.push(sql));
    savepoints.endAttempt = () => void events.push('ends');
    savepoints.open('work');
  });
  const write = (): void => {
    savepoints.send();
    savepoints.noteWrite();
  };
  const endItem = (isUndone: boolean): void => {
    if (isUndone) savepoints.undo('item');
    savepoints.release('item');
  };

  it('sends no savepoint inside of another', () => {
    for (let item = 0; item < 2; item++) {
      savepoints.open('item');
      write();
      endItem(false);
    }
    savepoints.release('work');
    expect(events).toEqual(['SAVEPOINT work', 'RELEASE SAVEPOINT work']);
  });

  it('ends the attempt if a savepoint that was not sent is undone after a write', () => {
    write();
    savepoints.open('item');
    write();
    endItem(true);
    expect(events).toEqual(['SAVEPOINT work', 'ends']);
  });

  it('undoes the first write without an end of the attempt', () => {
    savepoints.open('item');
    write();
    endItem(true);
    expect(events).toEqual(['SAVEPOINT work', 'ROLLBACK TO SAVEPOINT work']);
  });

  it('does not end the attempt after a write that has failed', () => {
    write();
    savepoints.open('item');
    savepoints.send();
    endItem(true);
    expect(events).toEqual(['SAVEPOINT work']);
  });

  it('throws if a savepoint that was not sent is undone after a write, and the attempt cannot end', () => {
    write();
    savepoints.open('item');
    write();
    savepoints.endAttempt = undefined;
    expect(() => savepoints.undo('item')).toThrow('the request could not be completed');
  });
});

/** A step in a savepoint: writes a value, or opens another savepoint, which is released or rolled back. */
type Step = number | { readonly released: boolean; readonly steps: readonly Step[] };

const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie('step'), { maxLength: 4 }),
  step: fc.oneof({ maxDepth: 5 }, fc.nat(9), fc.record({ released: fc.boolean(), steps: tie('steps') })),
}));

it.each([
  ['lazy savepoints', false],
  ['lazy savepoints of an attempt that can end', true],
])('%s have the same result as real ones', (_, canEnd) => {
  const driver = new BetterSqlite3(':memory:');
  driver.exec('CREATE TABLE "T" ("n" INTEGER)');
  const savepoints = createLazySavepoints((text) => void driver.exec(text));
  const write = driver.prepare('INSERT INTO "T" VALUES (?)');

  function run(all: readonly Step[], depth: number): void {
    for (const step of all) {
      if (typeof step === 'number') {
        savepoints.send();
        write.run(step);
        savepoints.noteWrite();
        continue;
      }
      savepoints.open(`s${depth}`);
      run(step.steps, depth + 1);
      if (!step.released) savepoints.undo(`s${depth}`);
      savepoints.release(`s${depth}`);
    }
  }
  const expected = (all: readonly Step[]): readonly number[] =>
    all.flatMap((step) => (typeof step === 'number' ? [step] : step.released ? expected(step.steps) : []));

  fc.assert(
    fc.property(steps, (all) => {
      let runs = 0;
      const begin = (): void => {
        savepoints.clear();
        driver.exec('BEGIN; DELETE FROM "T"');
        savepoints.open('s0');
      };
      begin();
      if (canEnd) savepoints.endAttempt = () => void runs++;
      run(all, 1);
      if (runs > 0) {
        savepoints.undo('s0');
        expect(driver.prepare('SELECT count(*) FROM "T"').pluck().get()).toBe(0);
        driver.exec('COMMIT');
        begin();
        run(all, 1);
      }
      savepoints.release('s0');
      driver.exec('COMMIT');
      expect(driver.prepare('SELECT "n" FROM "T" ORDER BY rowid').pluck().all()).toEqual(expected(all));
    }),
    { numRuns: casesOf(100) },
  );
});
