/**
 * The second decision of an update is the decision on the same record once the change is stored. Each case stores four records that refer to one
 * another at random, decides a random change of one of them by a random condition, stores the change, and decides again.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/operators/index.ts';
import { openPipeline, type TestPipeline, type TestRule } from '../../src/pipeline/pipeline.fixture.ts';
import type { RequestContext } from '../../src/pipeline/request-context.ts';
import { decideOn, mayRead } from '../../src/pipeline/steps/decide-request.ts';
import type { StoredRecord } from '../../src/resources/index.ts';
import { loadRecord, type Transaction, updateRecord } from '../../src/storage/index.ts';
import { openTestDatabase, replaceMembers, resourceOf, type TestDatabase } from '../../src/storage/storage.fixture.ts';
import { databaseCasesOf } from '../budget.ts';

const toTeam = { type: 'reference', to: 'Team', onDelete: 'setNull' };
const DEFINITIONS = {
  Team: {
    fields: {
      room: { type: 'string' },
      state: { type: 'string' },
      nextId: toTeam,
      upId: { ...toTeam, hierarchy: true },
      partnerIds: { type: 'list', of: { type: 'reference', to: 'Team' } },
    },
    indexes: [{ fields: ['upId'] }, { fields: ['room', 'state'] }],
  },
};
const NAMES = ['a', 'b', 'c', 'd'] as const;

let opened: TestDatabase;
let test: TestPipeline;
beforeAll(async () => {
  opened = openTestDatabase();
  test = await openPipeline({ definitions: DEFINITIONS, database: opened.database });
});
afterAll(async () => {
  await test.dispose();
  await opened.dispose();
});

/** Ids are names after `#`, which each case replaces. */
const anyId = fc.constantFrom(...NAMES.map((name) => `#${name}`));
const anyState = fc.constantFrom('open', 'closed');
const anyValues: fc.Arbitrary<JsonObject> = fc.record(
  { state: anyState, nextId: anyId, upId: anyId, partnerIds: fc.array(anyId, { maxLength: 3 }) },
  { requiredKeys: [] },
);

const references = fc.array(fc.constantFrom('nextId', 'nextId', 'upId', 'partnerIds'), { maxLength: 3 });
/** A condition on a field behind references of the record, or of a related record `m`. */
const comparison = (start: string): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    fc.record({
      field: references.map((path) => [start, ...path, 'state'].join('.')),
      operator: fc.constantFrom('eq', 'ne'),
      value: anyState,
    }),
    fc.record({
      field: fc.tuple(references, fc.constantFrom('id', 'nextId', 'upId')).map(([path, last]) => [start, ...path, last].join('.')),
      operator: fc.constant('within'),
      value: anyId,
    }),
  );
const related: fc.Arbitrary<JsonObject> = fc
  .record({
    on: fc.constantFrom(
      { upId: `\${resource.id}` },
      { upId: `\${resource.upId}` },
      { room: `\${resource.room}`, state: `\${resource.state}` },
    ),
    where: fc.array(comparison('m'), { minLength: 1, maxLength: 2 }),
    bound: fc.constantFrom({}, { atLeast: 2 }, { atMost: 1 }),
  })
  .map(({ on, where, bound }) => ({ related: { resource: 'Team', as: 'm', on, where, ...bound } }) as JsonObject);
const condition = fc.oneof(
  comparison('resource'),
  related,
  fc.oneof(comparison('resource'), related).map((of) => ({ not: of })),
  fc.tuple(comparison('resource'), related).map((anyOf) => ({ anyOf })),
);

let count = 0;

/** Stores the records of a case, and returns a function that replaces the names in a value by their ids. */
async function store(records: readonly JsonObject[]): Promise<<T>(value: T) => T> {
  const prefix = `case${count++}-`;
  const place = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('#', prefix)) as T;
  await test.store({ Team: Object.fromEntries(NAMES.map((name) => [`${prefix}${name}`, { room: prefix }])) });
  await test.deps.database.transaction(async (tx) => {
    for (const [index, name] of NAMES.entries()) await change(tx, `${prefix}${name}`, place(records[index] ?? {}));
  });
  return place;
}

const team = () => resourceOf(test.deps.policyStore.definitions, 'Team');

/** Stores a change, and returns the record. */
async function change(tx: Transaction, id: string, values: JsonObject): Promise<StoredRecord> {
  const { version } = (await loadRecord(tx, team(), id)) as StoredRecord;
  await updateRecord(tx, team(), { id, version, values, cleared: [], now: tx.now });
  return (await loadRecord(tx, team(), id)) as StoredRecord;
}

it('An update is decided on the changed record as a read of it is decided after the change', async () => {
  const effects = { allow: 0, deny: 0, differs: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anyValues, { minLength: 4, maxLength: 4 }), anyValues, condition, async (records, values, given) => {
      const place = await store(records);
      const rules = ['read', 'update'].map((action) => ({ resource: 'Team', action, conditions: [place(given)] })) as readonly TestRule[];
      const id = place('#a');
      await test.inContext({ as: 'ann', request: { action: 'update', resource: 'Team', id }, rules }, async ({ tx: written, ...unit }) => {
        // A transaction that has written, as this one has the rules, shares no loaded records between its decisions.
        const tx = replaceMembers(written, {});
        const context: RequestContext = { ...unit, tx };
        const stored = (await loadRecord(tx, team(), id)) as StoredRecord;
        const before = await mayRead(context, stored);
        const changed = { ...stored, ...place(values), version: stored.version + 1 };
        const { effect } = await decideOn(context, { record: changed, recordId: id, isChangedRecord: true });
        // The decision on the stored record does not see the values of the change.
        expect(await mayRead(context, stored)).toBe(before);
        const after = await mayRead(context, await change(tx, id, place(values)));
        expect(effect).toBe(after ? 'allow' : 'deny');
        effects[after ? 'allow' : 'deny']++;
        if (after !== before) effects.differs++;
      });
    }),
    { numRuns: databaseCasesOf(200, { postgres: 60 }) },
  );
  expect(Math.min(...Object.values(effects))).toBeGreaterThan(0);
});
