/** Policies, assignments and their versions, edited by SQL: `decisions verify` reports each edit. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sql, sql } from '../../src/sql.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';

type Database = Awaited<ReturnType<typeof openDatabase>>;

let service: RunningService;
let database: Database;
let token: string;
let policy: string;
let user: string;
const TABLES = ['_Policy', '_PolicyRule', '_UserPolicy', '_RolePolicy', '_PolicyHistory', '_Epoch', '_Decision'];
const ALLOW = { resource: 'Note', action: 'read', effect: 'ALLOW' };
const DENY = { ...ALLOW, effect: 'DENY' };

beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
  token = (await service.admin()).token;
  user = (await service.user()).id;
  policy = await service.createPolicy({ rules: [ALLOW, DENY], role: 'user', userId: user });
  await ask('PUT', `/policies/${policy}`, { priority: 7 });
  await ask('PUT', `/policies/${policy}/assign/user/${user}`, { context: { ticket: 1 } });
  await ask('POST', '/policies/import', { policies: ['a', 'b', 'c'].map((name) => ({ name, type: 'CUSTOM', rules: [ALLOW] })) });
  const gone = await service.createPolicy({ rules: [ALLOW], role: 'viewer' });
  await ask('DELETE', `/policies/${gone}`);
  database = await openDatabase({ database: service.database });
  for (const table of TABLES) await run(sql`create table ${sql.ref(`kept${table}`)} as select * from ${sql.ref(table)}`);
});
afterAll(async () => {
  await database.close();
  await service.close();
});
afterEach(async () => {
  // Rows that reference policies are deleted before them.
  await run(...TABLES.toReversed().map((table) => sql`delete from ${sql.ref(table)}`));
  await run(...TABLES.map((table) => sql`insert into ${sql.ref(table)} select * from ${sql.ref(`kept${table}`)}`));
});

async function ask(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await service.call(method, `/admin/api${path}`, { token, body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply;
}

async function run(...statements: readonly Sql[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const statement of statements) await tx.run(statement);
  });
}

interface Found {
  readonly kind: string;
  readonly detail: string;
}

/** Returns the breaks that the endpoint finds, page by page. */
async function verify(limit = 10_000): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (let cursor: unknown = ''; cursor !== undefined; ) {
    const page = await ask('GET', `/decisions/verify?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(...(page.at('data.breaks') as readonly Found[]));
    cursor = page.at('nextCursor');
  }
  return found;
}

/** Returns an expression that replaces text in a JSON column. */
function replaced(column: string, from: string, to: string): Sql {
  const text = sql`replace(cast(${sql.ref(column)} as text), ${from}, ${to})`;
  return service.database.startsWith('postgres') ? sql`cast(${text} as json)` : text;
}

const ofPolicy = (): Sql => sql`"kind" = 'policy' and "subjectId" = ${policy}`;

/** Edits by SQL, with the reports that they must cause. */
const EDITS: readonly (readonly [name: string, statements: () => readonly Sql[], detail: () => RegExp])[] = [
  [
    'an old version with its DENY removed',
    () => [sql`update "_PolicyHistory" set "value" = ${replaced('value', 'DENY', 'ALLOW')} where ${ofPolicy()} and "toEpoch" is not null`],
    () => new RegExp(`^the version of policy ${policy} of revision \\d+ is not as it was stored$`),
  ],
  [
    'the author of a version',
    () => [sql`update "_PolicyHistory" set "changedBy" = 'eve' where ${ofPolicy()} and "toEpoch" is not null`],
    () => new RegExp(`^the version of policy ${policy} of revision \\d+ is not as it was stored$`),
  ],
  [
    'a removed version',
    () => [sql`delete from "_PolicyHistory" where ${ofPolicy()} and "toEpoch" is not null`],
    () => /^the versions of revision \d+ are missing$/,
  ],
  [
    'one version of an import',
    () => [
      sql`update "_PolicyHistory" set "changedBy" = 'eve' where "id" = (select max("id") from "_PolicyHistory" where cast("value" as text) like '%"name":"b"%')`,
    ],
    () => /^one of the 3 versions of revision \d+ was changed, removed or added: policy /,
  ],
  [
    'a version inserted in a revision that changed no policy',
    () => [
      sql`insert into "_Epoch" ("id", "number", "at") values ('put', 100000, '2027-01-01T00:00:00.000Z')`,
      sql`insert into "_PolicyHistory" ("id", "kind", "subjectId", "fromEpoch", "value", "changedBy", "changedAt")
        select 'put', "kind", 'other', 100000, "value", "changedBy", "changedAt" from "_PolicyHistory" where ${ofPolicy()} and "toEpoch" is null`,
    ],
    () => /^the version of policy other of revision 100000 was added: /,
  ],
  [
    'a version with a later end',
    () => [sql`update "_PolicyHistory" set "toEpoch" = "toEpoch" + 1 where ${ofPolicy()} and "toEpoch" is not null`],
    () =>
      new RegExp(
        `^the version of policy ${policy} of revision \\d+ is stored as ended with revision \\d+, but is ended with revision \\d+$`,
      ),
  ],
  [
    'the hash of a revision',
    () => [
      sql`update "_Epoch" set "historyHash" = 'x' where "number" = (select max("number") from "_Epoch" where "historyHash" is not null)`,
    ],
    () => /^the policy history of revision \d+ has another hash than entry \S+ contains$/,
  ],
  [
    'the first hash',
    () => [
      sql`update "_Epoch" set "historyHash" = null where "number" = (select min("number") from "_Epoch" where "historyHash" is not null)`,
    ],
    () => /^the policy history of revision \d+ has another hash than entry \S+ contains$|is not as it was stored$/,
  ],
  [
    'a rule in force',
    () => [sql`update "_PolicyRule" set "effect" = 'ALLOW' where "policyId" = ${policy}`],
    () => new RegExp(`^policy ${policy} differs from its last version: `),
  ],
  [
    'a deleted rule',
    () => [sql`delete from "_PolicyRule" where "policyId" = ${policy} and "effect" = 'DENY'`],
    () => new RegExp(`^policy ${policy} differs from its last version: `),
  ],
  [
    'a policy in force',
    () => [sql`update "_Policy" set "isActive" = false where "id" = ${policy}`],
    () => new RegExp(`^policy ${policy} differs from its last version: `),
  ],
  [
    'an inserted policy',
    () => [
      sql`insert into "_Policy" ("id", "name", "type", "isActive", "priority", "createdBy", "tags", "createdAt", "updatedAt", "version")
        select 'put', 'put', "type", "isActive", "priority", "createdBy", "tags", "createdAt", "updatedAt", "version" from "_Policy" where "id" = ${policy}`,
    ],
    () => /^policy put is stored, but has no version in force$/,
  ],
  [
    'a deleted assignment',
    () => [sql`delete from "_RolePolicy" where "policyId" = ${policy}`],
    () => /^rolePolicy \S+ is in force according to its last version, but is not stored$/,
  ],
  [
    'an assignment to another user',
    () => [sql`update "_UserPolicy" set "userId" = 'eve' where "policyId" = ${policy}`],
    () => /^userPolicy \S+ differs from its last version: /,
  ],
];

describe('the policy history', () => {
  it('the policy history is intact in one page or many, and proven by the newest entry', async () => {
    expect(await verify()).toEqual([]);
    expect(await verify(3)).toEqual([]);
    const whole = await ask('GET', '/decisions/verify?limit=10000');
    const { versions, unproven, provenUntil, until } = whole.at('data.policies') as Readonly<Record<string, number>>;
    expect([versions, unproven]).toEqual([await count(sql`select count(*) as "count" from "_PolicyHistory"`), 0]);
    expect(provenUntil).toBe(until);
  });

  it('the audit entry of each change has the hash of the policy history', async () => {
    const [entry] = await service.decisions('kind=admin&resource=Policy&limit=1');
    expect(entry?.['facts']).toEqual({ policyRevision: expect.any(Number), policyHash: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it.each(EDITS)('describes an edit of the policy history, in one page or many: %s', async (_, statements, detail) => {
    await run(...statements());
    for (const limit of [10_000, 2]) {
      const found = await verify(limit);
      expect(found.map((each) => each.kind)).toContain('history');
      expect(
        found.some((each) => detail().test(each.detail)),
        JSON.stringify(found),
      ).toBe(true);
    }
  });

  it('reports a changed value in any column of any version of a policy', async () => {
    const ids = await database.transaction((tx) => tx.all<{ readonly id: string }>(sql`select "id" from "_PolicyHistory"`));
    const json = sql`cast('{}' as json)`;
    const others: Readonly<Record<string, Sql>> = {
      ...{ id: sql`'x'`, kind: sql`'policy '`, subjectId: sql`'x'`, userId: sql`'x'`, changedBy: sql`'x'`, changedAt: sql`'x'` },
      ...{ policyId: sql`'x'`, reason: sql`'x'`, rolledBackTo: sql`1000` },
      ...{ fromEpoch: sql`1000`, toEpoch: sql`1000`, value: service.database.startsWith('postgres') ? json : sql`'{}'` },
    };
    for (const { id } of ids) {
      const [column, value] = Object.entries(others)[ids.findIndex((each) => each.id === id) % Object.keys(others).length] ?? [];
      if (column === undefined || value === undefined) throw new Error('there is a column to change');
      const kept = sql`(select ${sql.ref(column)} from "kept_PolicyHistory" where "id" = ${id})`;
      await run(sql`update "_PolicyHistory" set ${sql.ref(column)} = ${value} where "id" = ${id}`);
      expect([id, column, (await verify()).map(({ kind }) => kind)]).toEqual([id, column, expect.arrayContaining(['history'])]);
      await run(sql`update "_PolicyHistory" set ${sql.ref(column)} = ${kept} where "id" = ${column === 'id' ? 'x' : id}`);
    }
    expect(await verify()).toEqual([]);
  });

  it('reports an edited history with recomputed hashes, because audit entries contain the earlier hashes', async () => {
    await run(sql`update "_PolicyHistory" set "changedBy" = 'eve' where ${ofPolicy()}`);
    await rehash();
    const found = await verify();
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ detail }) => / has another hash than entry \S+ contains$/.test(detail))).toBe(true);
  });

  it('the policy history is proven by the remaining audit entries, and not proven without any', async () => {
    const newest = sql`(select max("id") from "_Decision" where cast("facts" as text) like '%policyHash%')`;
    await run(sql`update "_Decision" set "facts" = null where "kind" = 'admin' and "id" <> ${newest}`);
    const proven = async () => (await ask('GET', '/decisions/verify?limit=10000')).at('data.policies') as Readonly<Record<string, unknown>>;
    const { provenUntil, until } = await proven();
    expect(provenUntil).toBe(until);
    await run(sql`update "_Decision" set "facts" = null where "kind" = 'admin'`);
    expect(await proven()).not.toHaveProperty('provenUntil');
    expect((await verify()).filter(({ kind }) => kind === 'history')).toEqual([]);
  });

  it('accepts versions of policies without a hash, and counts them as unproven', async () => {
    await run(sql`update "_Decision" set "facts" = null where "kind" = 'admin'`, sql`update "_Epoch" set "historyHash" = null`);
    expect((await verify()).filter(({ kind }) => kind === 'history')).toEqual([]);
    const whole = await ask('GET', '/decisions/verify?limit=10000');
    expect(whole.at('data.policies')).toEqual({
      versions: 0,
      unproven: await count(sql`select count(*) as "count" from "_PolicyHistory"`),
    });
  });
});

async function count(query: Sql): Promise<number> {
  return database.transaction(async (tx) => Number((await tx.one<{ readonly count: number }>(query))?.count));
}

/** Computes the hashes of all revisions again, as an attacker who knows the algorithm can. */
async function rehash(): Promise<void> {
  const { toVersionHash, VERSION_CONTENT } = await import('../../src/storage/index.ts');
  await database.transaction(async (tx) => {
    const columns = sql.join(VERSION_CONTENT.map((name) => sql.ref(name)));
    const rows = await tx.all<Readonly<Record<string, unknown>>>(sql`select ${columns} from "_PolicyHistory" order by "fromEpoch", "id"`);
    let hash = '';
    for (const row of rows) {
      hash = toVersionHash(hash, { ...row, fromEpoch: Number(row['fromEpoch']) });
      await tx.run(sql`update "_Epoch" set "historyHash" = ${hash} where "number" = ${Number(row['fromEpoch'])}`);
    }
  });
}
