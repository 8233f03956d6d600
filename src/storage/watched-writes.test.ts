/** A writer must take the locks of the decisions that have read its records: both compute the same keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WatchedFields } from '../authz/policies/index.ts';
import { parseConditions, type Related, relatedIn } from '../conditions/index.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Transaction } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import type { ReadSet, WriteSet } from './read-set.ts';
import { deleteRecord, insertRecord, restoreRecord, updateRecord } from './records.ts';
import { clearReferences } from './related/reference-searches.ts';
import { createRelatedStore } from './related/related-records.ts';
import { keyOfRelated, recordKey } from './related/relation-reads.ts';
import { define, openTestDatabase, replaceMembers, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';

const FIELDS = {
  name: { type: 'string' },
  mail: { type: 'email' },
  level: { type: 'enum', values: ['low', 'high'] },
  count: { type: 'integer' },
  rate: { type: 'number' },
  price: { type: 'decimal', scale: 2 },
  isOpen: { type: 'boolean' },
  day: { type: 'date' },
  at: { type: 'timestamp' },
};
const definitions = define({
  Project: { fields: { name: { type: 'string' } } },
  Task: { softDelete: true, fields: { ...FIELDS, projectId: { type: 'reference', to: 'Project', onDelete: 'setNull' } } },
});
const task = resourceOf(definitions, 'Task');

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());

interface Captured {
  readonly tx: Transaction;
  readonly reads: ReadSet[];
  readonly writes: WriteSet[];
}

/** Runs work in a transaction whose reads are validated and whose records are watched, and returns its read set and write set. */
function capture<T>(watched: WatchedFields | 'unknown', work: (captured: Captured) => Promise<T>): Promise<T> {
  return test.database.transaction((inner) => {
    const [reads, writes]: [ReadSet[], WriteSet[]] = [[], []];
    const tx = replaceMembers(inner, {
      validatesReads: true,
      watched: () => watched,
      addToReadSet: (readSet) => void reads.push(readSet),
      addToWriteSet: (writeSet) => void writes.push(writeSet),
    });
    return work({ tx, reads, writes });
  });
}

function related(on: JsonObject): Related {
  const conditions = [{ related: { resource: 'Task', as: 't', on } }];
  const limits = {
    depth: 8,
    references: 4,
    comparisons: 100,
    listItems: 100,
    textLength: 1000,
    expressionLength: 1000,
    expressionDepth: 8,
  };
  const { condition } = parseConditions(conditions, { at: '', expressions: false, limits: { ...limits, relatedRecords: 10 } });
  return relatedIn(condition)[0] as Related;
}

let count = 0;
const insert = async (tx: Transaction, values: JsonObject): Promise<string> => {
  const id = `t${count++}`;
  await insertRecord(tx, task, toRecord(id, values));
  return id;
};
const keysOf = (writes: readonly WriteSet[]): readonly unknown[] => writes.flatMap(({ records }) => records ?? []).map(({ keys }) => keys);

/** A stored value, and a value of a decision that is equal to it. */
const VALUES: readonly (readonly [field: string, stored: Json, given: Json])[] = [
  ['name', 'Ärger \ud83d\ude00', 'Ärger \ud83d\ude00'],
  ['mail', 'ann@example.com', 'ann@example.com'],
  ['level', 'high', 'high'],
  ['count', 7, 7],
  ['rate', 0.1, 0.1],
  ['price', '1.50', 1.5],
  ['isOpen', true, true],
  ['day', '2026-01-31', '2026-01-31'],
  ['at', '2026-01-31T09:00:00.000Z', '2026-01-31T10:00:00+01:00'],
];

describe('the keys of reads and writes', () => {
  it.each(VALUES)('a new record has the key of the decisions that count it by the field %s', async (field, stored, given) => {
    const watched: WatchedFields = {
      links: [[field, 'name'].sort().filter((name, at, all) => all.indexOf(name) === at)],
      isReferenced: false,
    };
    const values = { name: 'x', [field]: stored };
    await capture(watched, async ({ tx, reads, writes }) => {
      await insert(tx, values);
      const links = { name: field === 'name' ? given : 'x', [field]: given };
      const store = createRelatedStore(tx, definitions);
      const condition = related(links);
      await store.evaluate(() => findBy(store, condition, links));
      store.noteReads();
      const [read] = reads[0]?.relations?.related ?? [];
      expect(read?.stamps.size).toBe(1);
      expect(keysOf(writes)).toEqual([[read && keyOfRelated(read)]]);
    });
  });

  it('a record that moves has the keys of its old and its new links, and the key of its id', async () => {
    const watched: WatchedFields = { links: [['level', 'name'], ['mail']], isReferenced: true };
    await capture(watched, async ({ tx, writes }) => {
      const id = await insert(tx, { name: 'old', level: 'low' });
      await updateRecord(tx, task, { id, version: 1, values: { name: 'new' }, cleared: [], now: 0 });
      await updateRecord(tx, task, { id, version: 2, values: {}, cleared: ['level'], now: 0 });
      const key = (name: string): string => `related Task [["level","low"],["name","${name}"]]`;
      const own = recordKey('Task', id);
      expect(keysOf(writes)).toEqual([
        [own, key('old')],
        [own, key('old'), own, key('new')],
        [own, key('new'), own],
      ]);
    });
  });

  it('a deletion and a restore have the keys of the record, which is absent before a restore', async () => {
    await capture({ links: [['name']], isReferenced: false }, async ({ tx, writes }) => {
      const id = await insert(tx, { name: 'n' });
      await deleteRecord(tx, task, { id });
      await restoreRecord(tx, task, id);
      const key = 'related Task [["name","n"]]';
      const records = writes.flatMap((each) => each.records ?? []);
      expect(records.map(({ before, keysBefore }) => [before, keysBefore])).toEqual([
        [null, []],
        ['1 2026-01-01T00:00:00.000Z', [key]],
        [null, []],
      ]);
      expect(new Set(keysOf(writes).flat())).toEqual(new Set([key]));
    });
  });

  it('records whose reference is cleared have every key', async () => {
    await capture({ links: [['projectId']], isReferenced: false }, async ({ tx, writes }) => {
      await insertRecord(tx, resourceOf(definitions, 'Project'), toRecord('p', {}));
      const id = await insert(tx, { projectId: 'p' });
      const field = task.fields.get('projectId') as Field;
      const reference = {
        resource: task,
        field,
        to: { resource: resourceOf(definitions, 'Project'), ids: ['p'] },
        onDelete: 'setNull',
      } as const;
      await clearReferences(tx, { reference, ids: undefined });
      expect(writes.at(-1)?.records).toMatchObject([{ id, keys: 'all' }]);
    });
  });

  it('a record that a unit of work writes without knowledge of the policies has every key', async () => {
    await capture('unknown', async ({ tx, writes }) => {
      await insert(tx, { name: 'n' });
      expect(keysOf(writes)).toEqual(['all']);
    });
  });
});

function findBy(store: ReturnType<typeof createRelatedStore>, condition: Related, links: JsonObject): unknown {
  return store.find(
    condition,
    condition.on.map(({ path }) => links[path.keys[1] ?? ''] ?? null),
  );
}
