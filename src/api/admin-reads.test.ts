import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, searchEntries } from '../audit/index.ts';
import { codeOf } from '../pipeline/pipeline.fixture.ts';
import { parseQuery } from '../request/index.ts';
import type { Database } from '../storage/index.ts';
import { type AdminEndpoint, toRoute } from './admin/index.ts';
import { adminEndpoints } from './admin-routes.ts';
import { openAdmin, type TestAdmin, type TestAdminRequest } from './endpoint.fixture.ts';

let admin: TestAdmin;
let policyId: string;
let revision: string;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  const body = { name: 'Readers', type: 'CUSTOM', rules: [{ resource: 'Article', action: 'read', effect: 'ALLOW', conditions: [] }] };
  const { data } = await admin.bodyOf<{ data: { id: string; version: number } }>('admin.policies.create', { body });
  [policyId, revision] = [data.id, String(data.version)];
  await admin.send('admin.assignments.role.create', { params: { policyId, role: 'user' }, body: {} });
  await admin.send('admin.assignments.user.create', { params: { policyId, userId: 'ann' }, body: {} });
});
afterAll(() => admin.pipeline.dispose());

/** Returns the entries that a request adds, the newest first. */
async function entriesOf(send: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
  const all = async () => (await admin.deps.database.transaction((tx) => searchEntries(tx, { limit: 1000 }))).entries;
  const before = new Set((await all()).map(({ id }) => id));
  await send();
  return (await all()).filter(({ id }) => !before.has(id));
}

const TEST = { user: { id: 'ann', position: 'editor' }, resource: { name: 'Article', title: 'A draft' }, action: 'read' };
const TESTED = { resource: 'Article', action: 'read', userId: 'ann' };
const ofPolicy = () => ({ params: { id: policyId } });

/** Requests that show policies, audit entries or values, and the question that their entry names. */
const READS: Readonly<Record<string, () => readonly [request: TestAdminRequest, question?: object]>> = {
  'policies.list': () => [{ query: 'type=CUSTOM' }, { type: 'CUSTOM' }],
  'policies.read': () => [ofPolicy(), { id: policyId }],
  'policies.changes': () => [{ query: 'limit=5' }, { limit: 5 }],
  'policies.history': () => [ofPolicy(), { id: policyId }],
  'policies.version': () => [{ params: { id: policyId, revision } }, { id: policyId, revision }],
  'policies.diff': () => [
    { ...ofPolicy(), query: `from=${revision}` },
    { id: policyId, from: Number(revision) },
  ],
  'policies.validate': () => [{ body: { name: 'Validated', type: 'CUSTOM', rules: [] } }, { name: 'Validated' }],
  'policies.export': () => [{ query: 'format=ndjson' }, { format: 'ndjson' }],
  'advice.list': () => [{}],
  'assignments.user.read': () => [{ params: { policyId, userId: 'ann' } }, { policyId, userId: 'ann' }],
  'assignments.role.read': () => [{ params: { policyId, role: 'user' } }, { policyId, role: 'user' }],
  'assignments.list': () => [{ query: 'role=user' }, { role: 'user' }],
  'assignments.ofPolicy': () => [
    { ...ofPolicy(), query: 'names=true' },
    { id: policyId, names: true },
  ],
  'assignments.ofUser': () => [{ params: { userId: 'ann' } }, { userId: 'ann' }],
  'assignments.ofRole': () => [{ params: { role: 'user' } }, { role: 'user' }],
  'tests.access': () => [{ body: TEST }, TESTED],
  'tests.policy': () => [
    { ...ofPolicy(), body: TEST },
    { id: policyId, ...TESTED },
  ],
  'tests.whoCan': () => [{ body: { resource: 'Article', action: 'read' } }, { resource: 'Article', action: 'read' }],
  'tests.rolePermissions': () => [{ params: { role: 'user' } }, { role: 'user' }],
  'tests.permissions': () => [{ params: { userId: 'ann' } }, { userId: 'ann' }],
  'users.list': () => [{ query: 'search=ann&limit=5' }, { search: 'ann', limit: 5 }],
  'sessions.list': () => [
    { params: { userId: 'ann' }, query: 'limit=2' },
    { userId: 'ann', limit: 2 },
  ],
  'policies.preview': () => [{ body: { draft: {}, filter: { role: 'user' } } }, { role: 'user', draft: {} }],
  'decisions.list': () => [{ query: 'kind=access&limit=5' }, { kind: 'access', limit: 5 }],
  'decisions.histogram': () => [{ query: 'buckets=5' }, { buckets: 5 }],
  'decisions.facets': () => [{ query: 'fields=kind' }, { fields: 'kind' }],
  'decisions.export': () => [{ query: 'format=csv&kind=access' }, { format: 'csv', kind: 'access' }],
  'decisions.stream': () => [{ query: 'seconds=0&allowed=false' }, { seconds: 0, allowed: false }],
  'analytics.read': () => [{ query: 'timeframe=1h' }, { timeframe: '1h' }],
};

/** Requests whose responses show no policies, audit entries or values. */
const NOT_AUDITED = ['templates.list', 'storage.plan', 'storage.history', 'decisions.verify', 'catalogue.read', 'system.read'];

const idOf = ({ id }: { readonly id: string }): string => id.replace(/^admin\./, '');

describe('reads of an admin', () => {
  it('covers every admin endpoint that changes nothing', () => {
    const reads = adminEndpoints.filter(({ method, question }) => method === 'GET' || question !== undefined).map(idOf);
    expect(reads.toSorted()).toEqual([...Object.keys(READS), ...NOT_AUDITED, 'decisions.read', 'decisions.replay'].toSorted());
  });

  it.each(Object.keys(READS))('appends one audit entry, which names the question: %s', async (id) => {
    const [request, question] = READS[id]?.() ?? [{}];
    const entries = await entriesOf(() => admin.send(`admin.${id}`, request));
    expect(entries).toHaveLength(1);
    const { method, path } = adminEndpoints.find((endpoint) => idOf(endpoint) === id) ?? {};
    const named = {
      resource: 'Admin',
      action: id,
      recordId: request.params?.['id'] ?? request.params?.['policyId'],
      reason: `${method} ${path}`,
    };
    expect(entries[0]).toMatchObject({ kind: 'admin', allowed: true, userId: 'ada', role: 'admin', ...named });
    expect(entries[0]?.facts).toEqual(question && { question });
  });

  it('appends an audit entry with the id of the entry that is read', async () => {
    const [read] = await entriesOf(() => admin.send('admin.policies.list'));
    const entries = await entriesOf(() => admin.send('admin.decisions.read', { params: { id: read?.id ?? '' } }));
    expect(entries).toMatchObject([{ action: 'decisions.read', recordId: read?.id }]);
  });

  it('leaves hypothetical values and cursors out of the audit entry', async () => {
    const cursor = (await admin.bodyOf<{ nextCursor: string }>('admin.decisions.list', { query: 'limit=1' })).nextCursor;
    const tested = await entriesOf(() => admin.send('admin.tests.access', { body: TEST }));
    const searched = await entriesOf(() => admin.send('admin.decisions.list', { query: `limit=1&cursor=${cursor}` }));
    expect(JSON.stringify(tested)).not.toMatch(/editor|A draft/);
    expect(searched[0]?.facts).toEqual({ question: { limit: 1 } });
  });

  it.each(NOT_AUDITED)('appends no audit entry: %s', async (id) => {
    expect(await entriesOf(() => admin.send(`admin.${id}`))).toEqual([]);
  });

  it('appends no second entry for a change', async () => {
    const change = { ...ofPolicy(), body: { description: 'read articles' } };
    expect(await entriesOf(() => admin.send('admin.policies.update', change))).toMatchObject([{ resource: 'Policy', action: 'update' }]);
  });

  it('appends no entry for a refused question', async () => {
    const refused = () => codeOf(admin.send('admin.policies.read', { params: { id: 'unknown' } }));
    expect(await entriesOf(async () => expect(await refused()).toBe('POLICY_UNKNOWN'))).toEqual([]);
  });
});

describe('denials of users who are not admins', () => {
  it.each(['policies.list', 'policies.update', 'tests.whoCan'])('name the operation, before and after the body is read: %s', async (id) => {
    const endpoint = adminEndpoints.find((each) => idOf(each) === id) as AdminEndpoint;
    const route = toRoute(admin.deps, endpoint);
    const admit = async () => route.admission?.admit(admin.pipeline.originOf('ann'));
    for (const send of [admit, () => admin.send(`admin.${id}`, { as: 'ann', body: {} })]) {
      const entries = await entriesOf(async () => expect(await codeOf(send())).toBe('ACCESS_ADMIN'));
      expect(entries).toMatchObject([{ resource: 'Admin', action: id, allowed: false }]);
    }
  });
});

describe('attempts of reads', () => {
  it.each(['decisions.histogram', 'decisions.facets', 'decisions.verify', 'analytics.read', 'decisions.list'])(
    'an aggregate of the audit log begins beside other requests when the caller is admitted, and a search does not: %s',
    async (id) => {
      const attempts: string[] = [];
      const transaction: Database['transaction'] = (work, options) =>
        admin.deps.database.transaction((tx) => {
          attempts.push(tx.attempt);
          return work(tx);
        }, options);
      const database: Database = Object.assign(Object.create(admin.deps.database), { transaction });
      const route = toRoute({ ...admin.deps, database }, adminEndpoints.find((each) => idOf(each) === id) as AdminEndpoint);
      const query = parseQuery(id.endsWith('facets') ? 'fields=action' : '');
      const request = { method: 'GET' as const, params: new Map(), query, body: undefined, header: () => undefined };
      await route.handle({ ...request, origin: admin.pipeline.originOf('ada') }, () => undefined);
      expect(attempts).toEqual(id === 'decisions.list' ? ['short'] : ['short', 'long']);
    },
  );
});
