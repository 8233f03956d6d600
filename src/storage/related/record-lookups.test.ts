import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { define, openTestDatabase, type TestDatabase } from '../storage.fixture.ts';
import { createFoundMaps } from './loaded-records.ts';
import { RecordLookups } from './record-lookups.ts';

const definitions = define({ Note: { fields: { title: { type: 'string' } } } });
const foundNumbers = createFoundMaps<number>({ sizeOf: (found) => found, dependsOn: () => false });
let test: TestDatabase;
beforeAll(() => {
  test = openTestDatabase();
});
afterAll(() => test.dispose());

/** Runs `work` with lookups that find the length of a text, and the texts that they have loaded. */
function withLookups(work: (lookups: RecordLookups<string, number>, loaded: readonly string[]) => Promise<void>): Promise<void> {
  return test.database.transaction(async (tx) => {
    const loaded: string[] = [];
    const lookups = new RecordLookups<string, number>(foundNumbers({ tx, definitions }), async (wanted) => {
      loaded.push(...wanted.map(([, text]) => text));
      return wanted.map(([key, text]) => [key, text.length] as const);
    });
    await work(lookups, loaded);
  });
}

describe('RecordLookups', () => {
  it('loads what is wanted once, and counts as used what a later evaluation finds', async () => {
    await withLookups(async (lookups, loaded) => {
      expect(lookups.find('a')).toBeUndefined();
      lookups.want('a', 'one');
      lookups.want('a', 'one');
      expect(lookups.isIncomplete).toBe(true);
      await lookups.load();
      expect([lookups.isIncomplete, lookups.used(), lookups.size]).toEqual([false, [], 3]);
      lookups.begin();
      expect([lookups.find('a'), lookups.used(), loaded]).toEqual([3, [3], ['one']]);
    });
  });

  it('forgets at the beginning of an evaluation what the last one wanted and used', async () => {
    await withLookups(async (lookups, loaded) => {
      lookups.want('a', 'one');
      await lookups.load();
      lookups.find('a');
      lookups.want('b', 'two');
      lookups.begin();
      await lookups.load();
      expect([lookups.used(), loaded, lookups.entries()]).toEqual([[], ['one'], [['a', 3]]]);
    });
  });
});
