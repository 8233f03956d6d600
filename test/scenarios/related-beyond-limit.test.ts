/** Decisions on one record whose conditions read more related records than one decision may load. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, createReplayFrame, createReplayScope, replayEntry } from '../../src/audit/index.ts';
import { applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import type { TestRequest, TestRule } from '../../src/pipeline/pipeline.fixture.ts';
import { sql } from '../../src/sql.ts';
import { resourceOf } from '../../src/storage/storage.fixture.ts';
import { LIMITS, policyOf, stateOf, toRole } from '../policy-fixtures.ts';
import { type Change, type InterruptedPipeline, openInterrupted } from './interrupted-pipeline.ts';

const text = { type: 'string' };
const DEFINITIONS = {
  Membership: {
    fields: { team: text, seat: text, seatIds: { type: 'list', of: { type: 'reference', to: 'Membership' } } },
    indexes: [{ fields: ['team'] }],
  },
  Document: { fields: { team: text, title: text } },
  Grant: {
    fields: { seat: text, level: text, documentId: { type: 'reference', to: 'Document', onDelete: 'setNull' } },
    indexes: [{ fields: ['seat'] }],
  },
  Room: { fields: { seatIds: { type: 'list', of: { type: 'reference', to: 'Membership' } } } },
};
/** Memberships of the team, and grants of each seat: together more than 20,000. */
const COUNT = 150;
const SEATS = Array.from({ length: COUNT }, (_, index) => `s${String(index).padStart(3, '0')}`);

/** The only grant of an owner. */
const OWNED = { seat: 's149', level: 'owner', documentId: 'd1' };

const MEMBERSHIPS = SEATS.map((seat) => `m-${seat}`);

let pipeline: InterruptedPipeline;
beforeAll(async () => {
  pipeline = await openInterrupted({
    definitions: DEFINITIONS,
    records: {
      Membership: Object.fromEntries(SEATS.map((seat) => [`m-${seat}`, { team: 'a', seat, seatIds: MEMBERSHIPS }])),
      Room: { r1: { seatIds: MEMBERSHIPS } },
      Document: { d1: { team: 'a', title: 'one' }, d2: { team: 'b', title: 'two' } },
      Grant: { first: OWNED },
    },
  });
  const numbers = sql`WITH RECURSIVE "numbers"("n") AS (SELECT 1 UNION ALL SELECT "n" + 1 FROM "numbers" WHERE "n" < ${sql.lit(COUNT)})`;
  const columns = sql`"id", "version", "createdAt", "updatedAt", "seat", "level"`;
  await pipeline.test.deps.database.transaction((tx) =>
    tx.run(sql`INSERT INTO "Grant" (${columns}) ${numbers}
      SELECT "Membership"."seat" || '-' || "numbers"."n", 1, "Grant"."createdAt", "Grant"."updatedAt", "Membership"."seat", 'reader'
      FROM "Grant", "Membership", "numbers"`),
  );
});
afterEach(() => pipeline.revoke());
afterAll(() => pipeline.dispose());

const rule = (conditions: readonly object[], more: Partial<TestRule> = {}): TestRule =>
  ({ resource: 'Document', conditions, ...more }) as TestRule;
const granted = (level: object, bound: object = {}, field = 'g.level') => ({
  related: {
    ...{ resource: 'Membership', as: 'm', on: { team: '${resource.team}' }, ...bound },
    where: [{ related: { resource: 'Grant', as: 'g', on: { seat: '${m.seat}' }, where: [{ field, ...level }] } }],
  },
});
const OWNER = granted({ operator: 'eq', value: 'owner' });
const TITLED = granted({ operator: 'exists', value: true }, {}, 'g.documentId.title');
const NO_EDITOR = granted({ operator: 'eq', value: 'editor' }, { atMost: 0 });
const EDITOR = granted({ operator: 'eq', value: 'editor' });
/** Compares each of the 150 memberships of the team with each other one. */
const compared = (comparison: object): object => ({
  related: {
    ...{ resource: 'Membership', as: 'm', on: { team: '${resource.team}' } },
    where: [{ related: { resource: 'Membership', as: 'n', on: { team: '${m.team}' }, where: [comparison], atLeast: COUNT } }],
  },
});
const MEMBER = { related: { resource: 'Membership', as: 'm', on: { team: '${resource.team}' } } };
const IS_TEAM_A = { field: 'resource.team', operator: 'eq', value: 'a' };

const READ: TestRequest = { action: 'read', resource: 'Document', id: 'd1' };
const LIST: TestRequest = { action: 'list', resource: 'Document' };
const UPDATE: TestRequest = { action: 'update', resource: 'Document', id: 'd1', data: { title: 'new' } };
const CREATE: TestRequest = { action: 'create', resource: 'Document', data: { team: 'a' } };
const NOTHING: Change = async () => undefined;

const answerOf = async (request: TestRequest): Promise<string> => (await pipeline.interrupt(request, NOTHING)).answer;

describe('a decision that reads more related records than it may load', () => {
  it.each<[string, readonly TestRule[], string, string]>([
    ['allows if the condition is true', [rule([OWNER])], 'd1', 'd1'],
    ['allows if a path that leads back to the record is true', [rule([TITLED])], 'd1', 'd1'],
    ['denies if it is false', [rule([EDITOR])], 'ACCESS_DENIED', ''],
    ['allows if few enough records meet it', [rule([IS_TEAM_A, NO_EDITOR])], 'd1', 'd1'],
    ['denies if a rule that denies fires', [rule([IS_TEAM_A]), rule([OWNER], { effect: 'DENY' })], 'ACCESS_DENIED', ''],
    ['allows if no rule that denies fires', [rule([IS_TEAM_A]), rule([EDITOR], { effect: 'DENY' })], 'd1', 'd1'],
    ['allows by the next rule', [rule([EDITOR]), rule([OWNER])], 'd1', 'd1'],
  ])('%s, as a list does', async (_, rules, read, listed) => {
    await pipeline.test.grant(...rules);
    expect([await answerOf(READ), await answerOf(LIST)]).toEqual([read, listed]);
  });

  it('concerns the changed record of an update', async () => {
    await pipeline.test.grant(rule([OWNER]));
    const answers = [await answerOf(UPDATE), await answerOf({ ...UPDATE, data: { team: 'b' } })];
    expect(answers).toEqual(['d1', 'ACCESS_DENIED']);
  });

  it.each<[string, TestRule, TestRequest]>([
    ['a read whose condition the database cannot evaluate', rule([granted({ operator: 'matches', value: '^own' })]), READ],
    ['a list whose condition the database cannot evaluate', rule([granted({ operator: 'matches', value: '^own' })]), LIST],
    ['a new record', rule([OWNER]), CREATE],
    ['a changed record to which a path leads back', rule([TITLED]), UPDATE],
  ])('ends with REQUEST_BUDGET for %s', async (_, given, request) => {
    await pipeline.test.grant(given);
    expect(await answerOf(request)).toBe('REQUEST_BUDGET');
  });

  it('ends in the database, or with REQUEST_BUDGET, if it compares few records too often', async () => {
    await pipeline.test.grant(rule([compared({ field: 'n.seat', operator: 'exists', value: true })]));
    expect([await answerOf(READ), await answerOf(LIST), await answerOf(CREATE)]).toEqual(['d1', 'd1', 'REQUEST_BUDGET']);
    const { facts } = await readEntry();
    expect(facts).toEqual({ 'resource.team': 'a' });
  });

  it('ends in the database if it compares few records of lists too often', async () => {
    await pipeline.test.grant(rule([{ field: 'resource.seatIds.seatIds.seat', operator: 'eq', value: 's000' }], { resource: 'Room' }));
    const room = { resource: 'Room', action: 'read', id: 'r1' } as const;
    expect([await answerOf(room), await answerOf({ resource: 'Room', action: 'list' })]).toEqual(['r1', 'r1']);
    const { facts } = (await pipeline.test.entries()).findLast(({ action }) => action === 'read') as AuditEntry;
    expect(Object.keys(facts ?? {})).toEqual(['resource.seatIds']);
  });

  it('names the rule in its audit entry, and keeps no related records', async () => {
    await pipeline.test.grant(rule([EDITOR]), rule([OWNER], { description: 'the owners' }));
    const { reason, facts } = await readEntry();
    expect({ reason, facts }).toEqual({ reason: expect.stringContaining('the owners'), facts: { 'resource.team': 'a' } });
  });

  it('runs again if, before its commit, the only record that allowed it is deleted', async () => {
    await pipeline.test.grant(rule([OWNER]));
    expect(await pipeline.interrupt(READ, pipeline.remove('Grant', 'first'))).toEqual({ answer: 'ACCESS_DENIED', runs: 2 });
    await pipeline.test.store({ Grant: { first: OWNED } });
  });
});

it('An entry of a decision with more than a hundred related records has their number', async () => {
  await pipeline.test.grant(rule([MEMBER]));
  const { facts = {} } = await readEntry();
  expect(Object.values(facts)).toContainEqual({ notKept: true, counted: COUNT });
});

it.each([
  ['with more than a hundred related records', MEMBER],
  ['that the database has made', OWNER],
])('The replay of a decision %s is unknown', async (_, condition) => {
  await pipeline.test.grant(rule([condition]));
  const { definitions } = pipeline.test.deps.policyStore;
  const policies = [policyOf('p', [{ resource: 'Document', conditions: [condition] }])];
  const snapshot = compilePolicies(stateOf({ policies, rolePolicies: [toRole('user', 'p')] }), definitions, LIMITS);
  const applicable = applicableRules(snapshot, { assignments: [], role: 'user', resource: 'Document', action: 'read', now: 0 });
  const entry = await readEntry();
  const scope = createReplayScope(entry, createReplayFrame(resourceOf(definitions, 'Document'), definitions));
  expect(replayEntry(entry, applicable, scope)).toMatchObject({
    effect: 'unknown',
    missing: expect.arrayContaining(['related Membership']),
  });
});

/** Reads the document and returns the audit entry. */
async function readEntry(): Promise<AuditEntry> {
  expect(await answerOf(READ)).toBe('d1');
  return (await pipeline.test.entries()).at(-1) as AuditEntry;
}
