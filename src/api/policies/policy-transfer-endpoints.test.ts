import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import type { HttpResponse } from '../../request/index.ts';
import { sql } from '../../sql.ts';
import type { Database } from '../../storage/index.ts';
import { sealAll } from '../../storage/policies/seal.fixture.ts';
import { replaceMembers } from '../../storage/storage.fixture.ts';
import { type AdminDeps, toRoute } from '../admin/index.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';
import { policyImport } from './policy-transfer-endpoints.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } }, { importPolicies: 3 });
});
afterAll(() => admin.pipeline.dispose());

const readers = { name: 'readers', type: 'ROLE_BASED', rules: [{ resource: 'Article', action: 'read' }] };

/** Imports a JSON body as Ada. */
function importAll(body: Json, query: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
  return importText(JSON.stringify(body), { query });
}

interface Sent {
  readonly query?: Readonly<Record<string, string>>;
  readonly deps?: AdminDeps;
  readonly contentType?: string;
}

async function importText(text: string, { query = {}, contentType, deps = admin.deps }: Sent = {}): Promise<HttpResponse> {
  const bytes = Buffer.from(text);
  const request = {
    method: 'POST' as const,
    params: new Map(),
    query: new Map(Object.entries(query)),
    body: undefined,
    stream: (async function* () {
      yield bytes;
    })(),
    header: (name: string) => (name === 'content-type' ? contentType : undefined),
    origin: admin.pipeline.originOf('ada'),
  };
  return toRoute(deps, policyImport).handle(request, () => undefined);
}

const exported = () => admin.bodyOf<{ data: { policies: Json }; count: number }>('admin.policies.export');

describe('admin.policies.import', () => {
  it('imports and assigns policies; a second import of the export changes nothing', async () => {
    const policy = { ...readers, roles: [{ role: 'viewer', priority: 7 }], users: [{ userId: 'ann', expiresAt: null }] };
    expect(await importAll({ policies: [policy] })).toMatchObject({ status: 200, body: { data: { created: 1, assigned: 2 } } });
    const { data, count } = await exported();
    expect(await importAll(data)).toMatchObject({ body: { data: { created: 0, updated: 0, unchanged: count, assigned: 0 } } });
    expect(await importAll(data.policies)).toMatchObject({ body: { data: { unchanged: count } } });
  });

  it('compares the policies of a dry run with the stored ones', async () => {
    await importAll({ policies: [{ ...readers, name: 'compared' }] });
    const policies = [
      { ...readers, name: 'compared', priority: 7 },
      { ...readers, name: 'new', tags: ['press'] },
    ];
    const { body } = (await importAll({ policies, dryRun: true })) as { readonly body: Json };
    expect(body).toMatchObject({
      data: {
        changes: [
          { name: 'compared', result: 'updated', differences: [{ path: 'priority', kind: 'changed', before: 100, after: 7 }] },
          { name: 'new', result: 'created', differences: [{ path: 'tags.0' }, { path: 'rules.0', kind: 'added' }] },
        ],
      },
    });
    expect((await importAll({ policies: [{ ...readers, name: 'compared' }], dryRun: true })).body).toMatchObject({ data: { changes: [] } });
  });

  it.each<[string, Json, Record<string, string>]>([
    ['the body', { policies: [{ ...readers, name: 'tried' }], dryRun: true }, {}],
    ['the query', { policies: [{ ...readers, name: 'tried' }], dryRun: false }, { dryRun: 'true' }],
  ])('stores no policy in a dry run that is requested in %s', async (_, body, query) => {
    const before = await exported();
    expect(await importAll(body, query)).toMatchObject({ body: { data: { created: 1, dryRun: true } } });
    expect(await exported()).toEqual(before);
  });

  it('reports the mistakes of all policies at once, each with its path', async () => {
    const wrong = { ...readers, name: 'wrong', rules: [{ resource: 'Article', action: 'restore' }], roles: ['viewer', { role: 'boss' }] };
    const long = { ...readers, name: 'long', users: [{ userId: 'ann', context: { notes: 'x'.repeat(10_000) } }] };
    await expect(codeOf(importAll({ policies: [wrong, long, 7], dryRun: 'yes' }))).resolves.toBe(
      [
        'POLICY_INVALID policies.0.roles.0:type policies.0.roles.1.role:enum policies.2:type dryRun:type',
        'policies.0.rules.0.action:enum policies.1.users.0.context:tooLong',
      ].join(' '),
    );
  });

  it('parses each policy once, beside other requests and before the attempt that writes', async () => {
    let reads = 0;
    const attempts: { attempt: string; checks: number }[] = [];
    const transaction: Database['transaction'] = (work, options) =>
      admin.deps.database.transaction((tx) => {
        const counted = { attempt: tx.attempt, checks: 0 };
        attempts.push(counted);
        const checkTime = (): Promise<void> => {
          counted.checks++;
          return tx.checkTime();
        };
        return work(replaceMembers(tx, { checkTime }));
      }, options);
    const deps = {
      ...admin.deps,
      database: Object.assign(Object.create(admin.deps.database), { transaction }),
      // Parsing begins with the limits.
      get limits() {
        reads++;
        return admin.deps.limits;
      },
    };
    const policies = ['a', 'b', 'c'].map((name) => ({ ...readers, name: `sliced ${name}` }));
    expect(await importText(JSON.stringify({ policies, dryRun: true }), { deps })).toMatchObject({
      body: { data: { created: policies.length } },
    });
    expect(attempts).toEqual([
      { attempt: 'short', checks: 0 },
      { attempt: 'long', checks: expect.any(Number) },
      { attempt: 'writer', checks: 0 },
    ]);
    expect(reads).toBe(1);
    expect(attempts[1]?.checks).toBeGreaterThanOrEqual(2 * policies.length);
  });

  it('reports the mistakes of policies that are validated in slices with the paths of the body', async () => {
    const policies = Array.from({ length: 25 }, (_, nth) => ({
      ...readers,
      name: `sliced ${nth}`,
      ...(nth % 12 === 0 && { priority: 'high' }),
    }));
    const text = JSON.stringify({ policies, more: 1 });
    const mistakes = ['more:unknown', 'policies.0.priority:type', 'policies.12.priority:type', 'policies.24.priority:type'];
    const found = await codeOf(importText(text, { deps: { ...admin.deps, importPolicies: 100 } }));
    expect(found).toBe(`POLICY_INVALID ${mistakes.join(' ')}`);
  });

  it.each<[string, Json, string]>([
    ['no policies', {}, 'policies:required'],
    ['more policies than configured', ['a', 'b', 'c', 'd'].map((name) => ({ ...readers, name })), 'policies:tooMany'],
    [
      'more roles than configured',
      [{ ...readers, roles: ['anon', 'viewer', 'user', 'editor'].map((role) => ({ role })) }],
      'policies.0.roles:tooMany',
    ],
    ['a repeated name', [readers, readers], 'policies.1.name:duplicate'],
    ['a repeated role', [{ ...readers, roles: ['user', 'viewer', 'user'].map((role) => ({ role })) }], 'policies.0.roles.2:duplicate'],
    ['a repeated user', [{ ...readers, users: ['ann', 'ann'].map((userId) => ({ userId })) }], 'policies.0.users.1:duplicate'],
    ['null in place of an object', null, ':type'],
    ['an unknown user', [{ ...readers, users: [{ userId: 'none' }] }], 'policies.0.users.0.userId:reference'],
  ])('refuses an import with %s', async (_, body, mistakes) => {
    await expect(codeOf(importAll(body))).resolves.toBe(`POLICY_INVALID ${mistakes}`);
  });
});

describe('the errors of an import', () => {
  it('repeats at most the beginning of a repeated name', async () => {
    const long = { ...readers, name: 'x'.repeat(10_000) };
    await expect(importAll([long, long])).rejects.toMatchObject({
      extras: {
        errors: expect.arrayContaining([expect.objectContaining({ path: 'policies.1.name', detail: expect.stringMatching(/^.{0,200}$/) })]),
      },
    });
  });

  it('reports at most 100 lines of NDJSON that cannot be read', async () => {
    const deps = { ...admin.deps, importPolicies: 1000 };
    const [, ...mistakes] = (await codeOf(importText('{\n'.repeat(150), { contentType: 'application/x-ndjson', deps }))).split(' ');
    expect(mistakes).toHaveLength(100);
  });
});

describe('admin.policies.export', () => {
  it('writes one policy per line as NDJSON', async () => {
    const { contentType, pieces } = await admin.send('admin.policies.export', { query: 'format=ndjson' });
    let text = '';
    for await (const piece of pieces ?? []) text += String(piece);
    const lines = text.trimEnd().split('\n');
    expect([contentType, lines.map((line) => JSON.parse(line))]).toEqual(['application/x-ndjson', (await exported()).data.policies]);
  });

  it('exports many policies in pages, of which each admits the admin again', async () => {
    const many = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
    const names = Array.from({ length: 230 }, (_, index) => `policy ${index}`);
    for (const name of names) await createdPolicy(many, name);
    await many.pipeline.grant({ resource: 'Article', action: 'read' });
    const textOf = async (query: string, between?: () => Promise<unknown>): Promise<string> => {
      let text = '';
      for await (const piece of (await many.send('admin.policies.export', { query })).pieces ?? []) {
        if (text === '') await between?.();
        text += piece;
      }
      return text;
    };
    const body = JSON.parse(await textOf(''));
    const { policies } = body.data;
    expect(policies.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(names));
    expect(policies.at(-1).roles).toEqual([{ role: 'user', priority: 100, isActive: true }]);
    expect(body).toEqual({ success: true, data: { policies }, count: policies.length });
    const lines = (await textOf('format=ndjson')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(policies);
    const demote = () =>
      many.deps.database.transaction(async (tx) => {
        await tx.run(sql`UPDATE "User" SET "role" = 'user' WHERE "id" = 'ada'`);
        await sealAll(tx, many.deps.policyStore.definitions.get('User'));
      });
    await expect(codeOf(textOf('', demote))).resolves.toBe('ACCESS_ADMIN');
    await many.pipeline.dispose();
  });

  it('refuses to export policies in another format', async () => {
    await expect(codeOf(admin.send('admin.policies.export', { query: 'format=csv' }))).resolves.toBe('REQUEST_PARAMETER format:enum');
  });
});
