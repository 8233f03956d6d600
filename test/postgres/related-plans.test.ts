/** Query plans of lists and single decisions in PostgreSQL whose conditions count related records: they search indexes of these records. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import { openPipeline, type TestPipeline, type TestRule } from '../../src/pipeline/pipeline.fixture.ts';
import { decideOn } from '../../src/pipeline/steps/decide-request.ts';
import { listPage } from '../../src/pipeline/steps/list-records.ts';
import type { SortKey } from '../../src/request/index.ts';
import { renderSql, type Sql, sql } from '../../src/sql.ts';
import { loadRecord, type Statement, type Transaction } from '../../src/storage/index.ts';
import { openTestDatabase, replaceMembers, type TestDatabase } from '../../src/storage/storage.fixture.ts';

const GOLDEN = new URL('../golden/plans.postgres.txt', import.meta.url);

const OWN = { field: 'resource.ownerId', operator: 'eq', value: '${user.id}' };
const member = (more: object = {}) => ({
  related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}', organisationId: '${resource.organisationId}' }, ...more },
});
const EDITOR = { where: [{ field: 'm.level', operator: 'eq', value: 'editor' }] };

/** Lists that search an index of the documents. */
const SEARCHED: readonly (readonly [name: string, condition: object])[] = [
  ['as a member', member(EDITOR)],
  ['own, or as a member', { anyOf: [OWN, member(EDITOR)] }],
  ['with at least two memberships', member({ atLeast: 2 })],
];
/** A list of nearly all documents. */
const NOT_A_MEMBER: readonly [name: string, condition: object] = ['without a membership', member({ atMost: 0 })];

const IN_FOLDER = { field: 'resource.folderId', operator: 'within', value: ['f1'] };

/** Lists whose statement counts the related records, or searches the ancestors, of each row. */
const COUNTED: readonly (readonly [name: string, condition: object])[] = [
  ['as a member, compared with the document', member({ where: [{ field: 'm.level', operator: 'eq', value: '${resource.ownerId}' }] })],
  ['with two fields of the document', member({ on: { userId: '${resource.ownerId}', organisationId: '${resource.organisationId}' } })],
  ['with at most one membership of the owner', member({ on: { userId: '${resource.ownerId}' }, atMost: 1 })],
  [
    'with a membership of a member',
    member({
      on: { userId: '${resource.ownerId}' },
      where: [{ related: { resource: 'Membership', as: 'n', on: { userId: '${m.userId}', organisationId: '${m.organisationId}' } } }],
    }),
  ],
  ['outside of a folder', { not: IN_FOLDER }],
];

/** The documents that Ben owns. */
const BEN = ['d10000', 'd15000', 'd20000', 'd5000'];

let opened: TestDatabase;
let test: TestPipeline;
beforeAll(async () => {
  opened = openTestDatabase();
  const text = { type: 'string' };
  test = await openPipeline({
    database: opened.database,
    definitions: {
      Document: {
        fields: {
          ownerId: { ...text, index: true },
          organisationId: { ...text, index: true },
          folderId: { type: 'reference', to: 'Folder' },
        },
      },
      Folder: { fields: { parentId: { type: 'reference', to: 'Folder', onDelete: 'restrict', hierarchy: true } } },
      Membership: {
        fields: { userId: text, organisationId: text, level: text },
        indexes: [{ fields: ['userId', 'organisationId'] }],
      },
    },
  });
  await test.deps.database.transaction(async (tx) => {
    const automatic = sql`1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'`;
    const columns = sql`"id", "version", "createdAt", "updatedAt"`;
    await tx.run(sql`INSERT INTO "Document" (${columns}, "ownerId", "organisationId")
      SELECT 'd' || n, ${automatic}, CASE WHEN n % 5000 = 0 THEN 'ben' ELSE 'u' || n % 500 END, 'o' || n % 10000 FROM generate_series(1, 20000) AS n`);
    const members = sql`INSERT INTO "Membership" (${columns}, "userId", "organisationId", "level")`;
    await tx.run(sql`${members} SELECT 'm' || n, ${automatic}, 'u' || n % 500, 'o' || n, 'editor' FROM generate_series(1, 4000) AS n`);
    await tx.run(sql`${members} SELECT 'a' || n, ${automatic}, 'ann', 'o' || n % 20, 'editor' FROM generate_series(1, 40) AS n`);
    await tx.run(sql`INSERT INTO "Folder" (${columns}, "parentId")
      SELECT 'f' || n, ${automatic}, CASE WHEN n > 1 THEN 'f' || n / 2 END FROM generate_series(1, 5000) AS n`);
    await tx.run(sql`UPDATE "Document" SET "folderId" = 'f' || substr("id", 2)::int % 5000 + 1`);
    for (const table of ['Document', 'Membership', 'Folder']) await tx.run(sql`ANALYZE ${sql.table(table)}`);
  });
});
afterAll(async () => {
  await test.dispose();
  await opened.dispose();
});

describe('lists in PostgreSQL', () => {
  it('lists by related records have the reviewed query plans (UPDATE_GOLDEN=1 writes them)', async () => {
    const plans: string[] = [];
    for (const [name, condition] of [...SEARCHED, NOT_A_MEMBER, ...COUNTED, ['in a folder', IN_FOLDER] as const]) {
      // With a limit of its own, the page does not end where that of another test ended.
      const { plan } = await list('ann', condition, { limit: 21 });
      plans.push(`## ${name}\n\n${plan.join('\n')}\n`);
    }
    const now = plans.join('\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
    expect(now).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it.each(COUNTED)('searches an index of the related records of each row for a list %s', async (_, condition) => {
    const plan = (await list('ann', condition)).plan.join('\n');
    expect(plan).toMatch(/Index (Only )?Scan (using|on) "(ix_Membership\$userId\$organisationId|Folder_pkey)"/);
    expect(plan).not.toMatch(/Seq Scan on "(Membership|Folder)"/);
  });

  it('selects write marks, unless it loads the records below a folder before', async () => {
    const marked = async (condition: object) =>
      new Set((await list('ann', condition)).sent.map(({ sql: text }) => text.includes('"$marks"')));
    expect(await marked(member(EDITOR))).toEqual(new Set([true]));
    expect(await marked({ not: IN_FOLDER })).toEqual(new Set([true]));
    // A folder that has moved between the two statements would not change the marks any more.
    expect(await marked({ ...IN_FOLDER, value: ['f4000'] })).toEqual(new Set([false]));
  });

  it.each(SEARCHED)('searches an index of the listed records for a list %s', async (_, condition) => {
    // The second page is read up to the end of the first one.
    for (const searched of [
      /Limit\s+->\s+Index Only Scan using "ix_Document\$organisationId" .*\s+Index Cond: \("organisationId" = "Membership_/,
      /Limit\s+->\s+Index Only Scan using "ix_Document\$organisationId" .*\s+Index Cond: \(\("organisationId" = "Membership_\S+ AND \(id <= 'd/,
    ]) {
      const { plan: lines, sent } = await list('ann', condition, { limit: 19 });
      expect(sent).toHaveLength(1);
      const plan = lines.join('\n');
      expect(plan).toMatch(searched);
      expect(plan).not.toContain('Seq Scan');
    }
  });

  it.each(SEARCHED)('reads no record of others for a caller without related records, for a list %s', async (name, condition) => {
    const { ids, sent } = await list('ben', condition);
    // The second statement would find the records of a caller with more than a thousand related records.
    expect({ statements: sent.length, ids }).toEqual(name.startsWith('own') ? { statements: 1, ids: BEN } : { statements: 2, ids: [] });
  });

  it.each(SEARCHED)(
    'reads no listed record for a caller without related records, for a list in another order, %s',
    async (name, condition) => {
      const { ids, sent, plan } = await list('ben', condition, { sort: [{ field: 'createdAt', descending: false }] });
      expect(plan.join('\n')).toMatch(/One-Time Filter: \(InitPlan \d+\)/);
      // The second statement finds the records that need no related record.
      expect({ statements: sent.length, ids }).toEqual({ statements: 2, ids: name.startsWith('own') ? BEN : [] });
    },
  );
});

it.each([...SEARCHED, ...COUNTED])('A decision on one record searches an index of the related records, %s', async (_, condition) => {
  const rules = [{ resource: 'Document', action: 'read', conditions: [condition] }] as unknown as readonly TestRule[];
  const request = { action: 'read', resource: 'Document', id: 'd11' } as const;
  const plans = await test.inContext({ as: 'ann', request, rules }, async (context) => {
    const sent: Statement[] = [];
    const record = await loadRecord(context.tx, context.resource, 'd11');
    await decideOn({ ...context, tx: recording(context.tx, sent) }, { record, recordId: 'd11', action: 'read' });
    return Promise.all(sent.map((statement) => planOf(context.tx, statement)));
  });
  expect(plans.length).toBeGreaterThan(0);
  expect(plans.join('\n')).not.toMatch(/Seq Scan on "?(Membership|Folder)/);
});

it('searches the related records of each row for a caller with more than a thousand', async () => {
  const grown = sql`UPDATE "Membership" SET "userId" = 'ben' WHERE "id" LIKE 'm%' AND substr("id", 2)::int BETWEEN 2000 AND 3500`;
  const { ids, sent, plan } = await list('ben', member(EDITOR), { change: grown });
  expect(plan.join('\n')).toContain('One-Time Filter');
  expect(sent.map((statement) => statement.sql.includes('LATERAL'))).toEqual([true, false]);
  expect(ids).toHaveLength(20);
  expect(ids.every((id) => Number(id.slice(1)) % 10_000 >= 2000 && Number(id.slice(1)) % 10_000 <= 3500)).toBe(true);
});

interface Listed {
  readonly ids: readonly string[];
  readonly sent: readonly Statement[];
  readonly plan: readonly string[];
}

/** A change before the list, its order, and the number of records of its page. */
interface Listing {
  readonly change?: Sql;
  readonly sort?: readonly SortKey[];
  readonly limit?: number;
}

/** Lists documents. Returns the statements that it sends, and the plan of the first one. */
function list(as: 'ann' | 'ben', condition: object, { change, sort = [], limit = 20 }: Listing = {}): Promise<Listed> {
  const rules = [{ resource: 'Document', action: 'list', conditions: [condition] }] as unknown as readonly TestRule[];
  const request = { action: 'list', resource: 'Document', limit, sort } as const;
  return test.inContext({ as, request, rules }, async (context) => {
    const sent: Statement[] = [];
    if (change !== undefined) await context.tx.run(change);
    const decision = await decideOn(context, { record: UNRESOLVED, action: 'list' });
    const { data } = await listPage({ ...context, tx: recording(context.tx, sent) }, { decision, found: [], proposals: [] });
    const [first = { sql: '', parameters: [] }] = sent;
    return { ids: (data as readonly { id: string }[]).map(({ id }) => id), sent, plan: await planOf(context.tx, first) };
  });
}

async function planOf(tx: Transaction, { sql: text, parameters }: Statement): Promise<readonly string[]> {
  const lines = await tx.all<{ 'QUERY PLAN': string }>({ sql: `EXPLAIN (COSTS OFF) ${text}`, parameters });
  return lines.map((line) => line['QUERY PLAN']);
}

/** Wraps the transaction to record each statement that selects records. */
function recording(tx: Transaction, sent: Statement[]): Transaction {
  return replaceMembers(tx, {
    all: (query) => {
      sent.push('parameters' in query ? query : renderSql(query, tx.dialect.placeholder));
      return tx.all(query);
    },
  });
}
