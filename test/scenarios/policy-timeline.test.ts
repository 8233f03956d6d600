/** The history of policies: changes, versions and differences, through HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../../src/sql.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { type CallOptions, type Reply, type RunningService, startService } from '../harness.ts';

type Database = Awaited<ReturnType<typeof openDatabase>>;

let service: RunningService;
let database: Database;
let ada: { readonly id: string; readonly token: string };
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
  ada = await service.admin();
  database = await openDatabase({ database: service.database });
});
afterAll(async () => {
  await database.close();
  await service.close();
});

async function ask(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  return service.call(method, `/admin/api${path}`, { token: ada.token, ...options });
}

/** Sends a request that must succeed. */
async function done(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await ask(method, path, { body });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply;
}

const READ = { resource: 'Note', action: 'read', description: 'readers read' };
const DELETE = { resource: 'Note', action: 'delete', description: 'editors clean up' };
let names = 0;

async function create(
  rules: readonly object[] = [READ, DELETE],
): Promise<{ readonly id: string; readonly version: number; readonly name: string }> {
  const body = { name: `Timeline ${++names}`, type: 'CUSTOM', rules, reason: 'asked for' };
  return (await done('POST', '/policies', body)).at('data') as Awaited<ReturnType<typeof create>>;
}

interface Item {
  readonly revision: number;
  readonly change: string;
  readonly subject: string;
  readonly summary: string;
  readonly reason?: string;
  readonly policy: { readonly id: string; readonly name: string };
}

/** Loads every page of a history. */
async function historyOf(path: string, limit = 2): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: unknown = ''; cursor !== undefined; ) {
    const page = await done('GET', `${path}?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    items.push(...(page.at('data') as readonly Item[]));
    cursor = page.at('nextCursor');
  }
  return items;
}

describe('the history of a policy', () => {
  it('lists each change of a policy and its assignments, newest first, also after the policy is deleted', async () => {
    const { id, name } = await create();
    const path = `/policies/${id}`;
    const user = (await service.user()).id;
    await done('POST', `${path}/assign/role/viewer`, { priority: 5 });
    await done('POST', `${path}/assign/user/${user}`, { reason: 'on call' });
    await done('PUT', `${path}/assign/role/viewer`, { priority: 6 });
    await done('PUT', path, { rules: [READ, { ...DELETE, action: 'update' }], priority: 7, reason: 'no deletions' });
    await done('DELETE', `${path}/assign/user/${user}?reason=back`);
    await done('DELETE', `${path}?reason=replaced`);
    const items = await historyOf(`${path}/history`);
    const texts = items.map(({ change, subject, summary, reason = '-' }) => `${subject} ${change}: ${summary} (${reason})`);
    // The deletion of the policy and that of its assignment have the same revision.
    expect(texts.slice(0, 2).toSorted()).toEqual([
      'assignment deleted: removed the assignment to role viewer (replaced)',
      `policy deleted: deleted policy "${name}" (replaced)`,
    ]);
    expect(texts.slice(2)).toEqual([
      `assignment deleted: removed the assignment to user ${user} (back)`,
      'policy updated: the policy has priority 7 instead of 100: among rules of the same priority, its rules are evaluated later; ' +
        'rule "editors clean up" applies to action update, no longer to action delete (no deletions)',
      'assignment updated: changed the assignment to role viewer: priority 6 (-)',
      `assignment created: assigned to user ${user}: active, no expiry, no context (on call)`,
      'assignment created: assigned to role viewer: active, priority 5 (-)',
      `policy created: created policy "${name}" with 2 rules (asked for)`,
    ]);
    expect(items.every(({ policy }) => policy.id === id && policy.name === name)).toBe(true);
    expect(items.at(-1)).toMatchObject({ by: { id: ada.id }, at: expect.stringMatching(/^\d{4}-/) });
    const all = await historyOf('/policies/history', 100);
    expect(all.filter(({ policy }) => policy.id === id)).toEqual(items);
    expect(all.map(({ revision }) => revision)).toEqual(all.map(({ revision }) => revision).toSorted((a, b) => b - a));
  });

  it('lists changes from before versions named their policy', async () => {
    const { id } = await create();
    await done('POST', `/policies/${id}/assign/role/viewer`);
    await done('DELETE', `/policies/${id}/assign/role/viewer`);
    await done('PUT', `/policies/${id}`, { priority: 3 });
    const before = await historyOf(`/policies/${id}/history`);
    const { sealTable } = await import('../../src/storage/policies/seal-tables.ts');
    const { POLICY_TABLES } = await import('../../src/storage/policies/policy-tables.ts');
    await database.transaction(async (tx) => {
      await tx.run(sql`update "_PolicyHistory" set "policyId" = null where "policyId" = ${id}`);
      await sealTable(tx, POLICY_TABLES.history);
    });
    expect(before).toHaveLength(4);
    expect(await historyOf(`/policies/${id}/history`)).toEqual(before);
  });

  it('refuses a policy that never existed, another cursor and a page of more than 100', async () => {
    const { id } = await create();
    expect((await ask('GET', '/policies/0198c0de-0000-7000-8000-000000000009/history')).at('code')).toBe('POLICY_UNKNOWN');
    expect((await ask('GET', `/policies/${id}/history?cursor=abc`)).at('code')).toBe('REQUEST_CURSOR');
    expect((await ask('GET', `/policies/${id}/history?limit=101`)).at('code')).toBe('REQUEST_PARAMETER');
  });
});

describe('the versions of a policy', () => {
  it('returns the version in force at each revision, with its author and its reason', async () => {
    const first = await create();
    const { version: second } = (await done('PUT', `/policies/${first.id}`, { priority: 9 })).at('data') as typeof first;
    const other = await create();
    await done('DELETE', `/policies/${first.id}`);
    const at = (revision: number) => ask('GET', `/policies/${first.id}/versions/${revision}`);
    expect((await at(first.version)).at('data')).toMatchObject({
      policy: first,
      revision: first.version,
      change: 'created',
      reason: 'asked for',
    });
    expect((await at(second)).at('data')).toMatchObject({ policy: { priority: 9, version: second }, by: { id: ada.id } });
    // Another policy began this revision.
    expect((await at(other.version)).at('data.revision')).toBe(second);
    const refused = [first.version - 1, other.version + 1, 999_999].map(async (revision) => {
      const reply = await at(revision);
      return [reply.status, reply.at('code'), reply.at('detail')];
    });
    expect(await Promise.all(refused)).toEqual([
      [404, 'REVISION_UNKNOWN', `the policy did not exist at revision ${first.version - 1}`],
      [404, 'REVISION_UNKNOWN', `the policy was deleted by revision ${other.version + 1}`],
      [404, 'REVISION_UNKNOWN', expect.stringContaining('there is no revision 999999 yet')],
    ]);
  });

  it('compares a version with the current one or another one', async () => {
    const { id, version } = await create();
    const { version: second } = (await done('PUT', `/policies/${id}`, { rules: [READ] })).at('data') as { readonly version: number };
    await done('PUT', `/policies/${id}`, { isActive: false });
    const diff = async (query: string) =>
      (await done('GET', `/policies/${id}/diff?${query}`)).body as { data: { differences: object[] }; count: number };
    const removed = { kind: 'removed', path: 'rules.1', before: expect.objectContaining({ action: 'delete' }), ruleId: expect.any(String) };
    expect(await diff(`from=${version}&to=${second}`)).toMatchObject({
      count: 1,
      data: { from: { revision: version, reason: 'asked for' }, to: { revision: second }, differences: [removed] },
    });
    expect((await diff(`from=${version}`)).data.differences).toMatchObject([{ path: 'isActive', before: true, after: false }, removed]);
    expect(await diff(`from=${second}&to=${second}`)).toMatchObject({ count: 0, data: { differences: [] } });
    expect((await ask('GET', `/policies/${id}/diff?from=1`)).at('code')).toBe('REVISION_UNKNOWN');
    expect((await ask('GET', `/policies/${id}/diff`)).at('errors.0')).toMatchObject({ path: 'from', code: 'required' });
  });

  it('refuses a version that was edited in the database', async () => {
    const { id, version } = await create();
    await done('PUT', `/policies/${id}`, { priority: 9 });
    const value = service.database.startsWith('postgres') ? sql`cast("value" as text)` : sql`"value"`;
    const replace = async (text: string, by: string): Promise<void> => {
      const edited = sql`replace(${value}, ${text}, ${by})`;
      const stored = service.database.startsWith('postgres') ? sql`cast(${edited} as json)` : edited;
      await database.transaction((tx) =>
        tx.run(sql`update "_PolicyHistory" set "value" = ${stored} where "subjectId" = ${id} and "fromEpoch" = ${version}`),
      );
    };
    await replace('readers read', 'readers write');
    for (const path of [`versions/${version}`, `diff?from=${version}`, 'history']) {
      const reply = await ask('GET', `/policies/${id}/${path}`);
      expect([path, reply.status, reply.at('code')]).toEqual([path, 500, 'STORAGE_DAMAGED']);
    }
    const rolledBack = await ask('POST', `/policies/${id}/rollback`, { body: { revision: version, reason: 'undo' } });
    expect(rolledBack.at('code')).toBe('STORAGE_DAMAGED');
    await replace('readers write', 'readers read');
    await done('GET', `/policies/${id}/history`);
  });

  it('each read of the history has one audit entry, which names the question', async () => {
    const { id, version } = await create();
    const last = async () => (await service.decisions('kind=admin&limit=1'))[0];
    await done('GET', `/policies/${id}/diff?from=${version}`);
    expect(await last()).toMatchObject({ action: 'policies.diff', recordId: id, facts: { question: { id, from: version } } });
    await done('GET', `/policies/${id}/versions/${version}`);
    expect(await last()).toMatchObject({ action: 'policies.version', recordId: id });
    await done('GET', '/policies/history');
    expect(await last()).toMatchObject({ action: 'policies.changes' });
  });

  it('refuses each read of the history to every caller who is not an admin', async () => {
    const { id, version } = await create();
    const { token } = await service.user({ role: 'user' });
    for (const path of [
      '/policies/history',
      `/policies/${id}/history`,
      `/policies/${id}/versions/${version}`,
      `/policies/${id}/diff?from=${version}`,
    ]) {
      const refused = await ask('GET', path, { token });
      expect([path, refused.status, refused.at('code'), refused.text.includes('readers')]).toEqual([path, 403, 'ACCESS_ADMIN', false]);
      expect((await service.call('GET', `/admin/api${path}`)).status).toBe(401);
    }
  });
});

describe('the list of policies', () => {
  it('finds policies, sorts them and follows cursors, which belong to their order', async () => {
    const made = [await create(), await create([{ ...READ, resource: 'User' }]), await create()];
    const tag = `tag ${names}`;
    for (const [index, { id }] of made.entries())
      await done('PUT', `/policies/${id}`, { tags: [tag], priority: index, reason: `change ${index}` });
    await done('POST', `/policies/${made[0]?.id}/assign/role/viewer`);
    const query = `tag=${encodeURIComponent(tag)}&sort=-updatedAt&limit=2`;
    const first = await done('GET', `/policies?${query}`);
    const cursor = String(first.at('nextCursor'));
    const second = await done('GET', `/policies?${query}&cursor=${cursor}`);
    const ids = [first, second].flatMap((page) => (page.at('data') as readonly { readonly id: string }[]).map(({ id }) => id));
    expect([ids, second.at('nextCursor')]).toEqual([made.map(({ id }) => id).toReversed(), undefined]);
    expect((await ask('GET', `/policies?sort=name&cursor=${cursor}`)).at('code')).toBe('REQUEST_CURSOR');
    const count = async (filter: string) => (await done('GET', `/policies?tag=${encodeURIComponent(tag)}&${filter}`)).at('count');
    expect([
      await count('resource=User'),
      await count('assignedTo=role:viewer'),
      await count('assignedTo=user:x'),
      await count('search=TIMELINE'),
    ]).toEqual([1, 1, 0, 3]);
  });

  it('returns summaries with the last change instead of rules', async () => {
    const { id, version, name } = await create();
    const reply = await done('GET', `/policies?summary=true&search=${encodeURIComponent(name)}`);
    expect(reply.at('data.0')).toMatchObject({ id, ruleCount: 2, resources: ['Note'], assignments: { roles: [], users: 0 } });
    expect(reply.at('data.0.lastChange')).toMatchObject({ revision: version, by: { id: ada.id }, reason: 'asked for' });
    expect(reply.at('data.0.rules')).toBeUndefined();
  });

  it('returns summaries with the number of findings that the list of findings has', async () => {
    const { id, name } = await create();
    const counts = async () => {
      const listed = await done('GET', `/policies-advice?policyId=${id}`);
      const summary = await done('GET', `/policies?summary=true&search=${encodeURIComponent(name)}`);
      return {
        codes: (listed.at('data') as readonly { readonly code: string }[]).map(({ code }) => code),
        listed: listed.at('count'),
        counted: summary.at('data.0.findings'),
      };
    };
    const before = await counts();
    await done('POST', `/policies/${id}/assign/role/viewer`);
    const after = await counts();
    expect([before, after].map(({ listed, counted }) => counted === listed)).toEqual([true, true]);
    expect([before, after].map(({ codes }) => codes.includes('unassigned'))).toEqual([true, false]);
  });

  it.each([
    ['assignedTo=role:owner', 'assignedTo:pattern'],
    ['assignedTo=editor', 'assignedTo:pattern'],
    ['sort=tags', 'sort:enum'],
    ['search=', 'search:tooShort'],
    ['summary=1', 'summary:type'],
    ['find=x', 'find:unknown'],
  ])('refuses the search ?%s', async (query, mistake) => {
    const reply = await ask('GET', `/policies?${query}`);
    const [error] = reply.at('errors') as readonly { readonly path: string; readonly code: string }[];
    expect([reply.status, `${error?.path}:${error?.code}`]).toEqual([400, mistake]);
  });
});
