import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

const isDraft = { field: 'resource.status', operator: 'eq', value: 'draft' };

let admin: TestAdmin;
/** Allows users to update drafts. */
let ofRole: string;
/** Allows to read articles; assigned to Ben. */
let readers: string;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: { Article: { fields: { status: { type: 'string' } } } },
    records: { Article: { a1: { status: 'draft' } } },
    rules: [{ resource: 'Article', action: 'update', conditions: [isDraft] }],
  });
  const { data } = await admin.bodyOf<{ data: readonly { id: string; name: string }[] }>('admin.policies.list');
  ofRole = data.find(({ name }) => name.startsWith('rules of user'))?.id ?? '';
  readers = await createdPolicy(admin, 'Readers');
  await admin.send('admin.assignments.user.create', { params: { policyId: readers, userId: 'ben' }, body: {} });
});
afterAll(() => admin.pipeline.dispose());

const LOCKED = { name: 'Locked', type: 'ROLE_BASED', rules: [{ resource: 'Article', action: '*', effect: 'DENY', priority: 900 }] };
const LOCK: JsonObject = { policies: [LOCKED], assignments: [{ role: 'user', policyId: 'draft:0' }] };

interface Tested {
  readonly data: { readonly allowed: boolean; readonly reason: string; readonly matchedPolicy: JsonObject | null };
}
const testWith = (draft: Json | undefined, userId = 'ann', action = 'update'): Promise<Tested> =>
  admin.bodyOf('admin.tests.access', {
    body: { user: { id: userId }, resource: { name: 'Article', id: 'a1' }, action, ...(draft !== undefined && { draft }) },
  });

interface Found {
  readonly data: {
    readonly roles: readonly { readonly role: string }[];
    readonly users: readonly { readonly id: string; readonly via: string }[];
  };
}
const whoCan = async (draft: Json, action = 'read'): Promise<string[]> => {
  const { data } = await admin.bodyOf<Found>('admin.tests.whoCan', { body: { resource: 'Article', id: 'a1', action, draft } });
  return [...data.roles.map(({ role }) => role), ...data.users.map(({ id, via }) => `${id} via ${via}`)];
};

interface Permissions {
  readonly data: readonly { readonly action: string; readonly effect: string }[];
}
const effectOn = async (userId: string, action: string, draft: Json): Promise<string | undefined> => {
  const request = { params: { userId }, body: { resources: ['Article'], draft } };
  return (await admin.bodyOf<Permissions>('admin.tests.permissions', request)).data.find((cell) => cell.action === action)?.effect;
};

describe('an access test with a draft', () => {
  it('decides with the policies and assignments of the draft', async () => {
    expect((await testWith(undefined)).data.allowed).toBe(true);
    expect((await testWith(LOCK)).data).toMatchObject({ allowed: false, matchedPolicy: { id: 'draft:0', name: 'Locked' } });
    expect((await testWith({ policies: [{ id: ofRole, rules: [] }] })).data).toMatchObject({ allowed: false, reason: 'no rule matched' });
    expect((await testWith({ removePolicies: [ofRole] })).data.reason).toContain('no policies found');
    expect((await testWith({ removeAssignments: [{ role: 'user', policyId: ofRole }] })).data.allowed).toBe(false);
  });

  it('decides with the assignments that the draft gives to and takes from users', async () => {
    expect((await testWith({}, 'ann', 'read')).data.allowed).toBe(false);
    expect((await testWith({ assignments: [{ userId: 'ann', policyId: readers }] }, 'ann', 'read')).data.allowed).toBe(true);
    const expired = { userId: 'ann', policyId: readers, expiresAt: '2020-01-01T00:00:00Z' };
    expect((await testWith({ assignments: [expired] }, 'ann', 'read')).data.allowed).toBe(false);
    expect((await testWith({ removeAssignments: [{ userId: 'ben', policyId: readers }] }, 'ben', 'read')).data.allowed).toBe(false);
  });

  it('a question with a draft stores nothing but its audit entry', async () => {
    const tables = ['_Policy', '_PolicyRule', '_RolePolicy', '_UserPolicy', '_PolicyHistory', '_Epoch'];
    const before = await Promise.all(tables.map((table) => admin.pipeline.rows(table)));
    await testWith({ ...LOCK, removePolicies: [ofRole, readers] });
    await whoCan({ assignments: [{ userId: 'ann', policyId: readers }] });
    expect(await Promise.all(tables.map((table) => admin.pipeline.rows(table)))).toEqual(before);
    expect((await testWith(undefined)).data.allowed).toBe(true);
    expect((await testWith(undefined, 'ben', 'read')).data.allowed).toBe(true);
  });

  it('reports every mistake with its path, and decides nothing', async () => {
    const condition = { field: 'resource.status', operator: 'eqq', value: 1 };
    const rules = [{ resource: 'Article', action: 'read', conditions: [condition] }];
    const draft = {
      policies: [{ id: 'gone', name: 'Gone', type: 'CUSTOM', rules }],
      assignments: [{ userId: 'zoe', policyId: 'draft:7' }],
    };
    const entries = (await admin.pipeline.entries()).length;
    expect(await codeOf(testWith(draft))).toBe(
      'REQUEST_MALFORMED draft.policies.0.id:reference draft.policies.0.rules.0.conditions.0.operator:operator draft.assignments.0.userId:reference draft.assignments.0.policyId:reference',
    );
    expect(await codeOf(testWith(5))).toBe('REQUEST_MALFORMED draft:type');
    expect(await codeOf(testWith({ policy: [] }))).toBe('REQUEST_MALFORMED draft.policy:unknown');
    expect(await admin.pipeline.entries()).toHaveLength(entries);
  });

  it('a test of one policy takes no draft', async () => {
    const body = { resource: { name: 'Article' }, action: 'read', draft: {} };
    expect(await codeOf(admin.send('admin.tests.policy', { params: { id: readers }, body }))).toBe('REQUEST_MALFORMED draft:unknown');
  });
});

describe('the other questions with a draft', () => {
  it('who-can finds users whom only the draft assigns a policy, and leaves out those whom it takes access from', async () => {
    expect(await whoCan({})).toEqual(['admin', 'ada via role', 'ben via user']);
    expect(await whoCan({ assignments: [{ userId: 'ann', policyId: readers }] })).toEqual([
      ...['admin', 'ada via role', 'ann via user', 'ben via user'],
    ]);
    expect(await whoCan({ removePolicies: [readers] })).toEqual(['admin', 'ada via role']);
    expect(await whoCan({ assignments: [{ role: 'user', policyId: readers }] })).toContain('user');
  });

  it('permissions are those with the draft', async () => {
    expect(await effectOn('ann', 'update', {})).toBe('conditional');
    expect(await effectOn('ann', 'update', LOCK)).toBe('deny');
    expect(await effectOn('ann', 'read', { assignments: [{ userId: 'ann', policyId: readers }] })).toBe('allow');
  });

  it('the audit entry names the sizes of the draft and the stored policies in it, without its rules', async () => {
    const draft = { ...LOCK, policies: [LOCKED, { id: readers, priority: 5 }], removePolicies: [ofRole] };
    await testWith(draft);
    await whoCan(draft);
    await effectOn('ann', 'read', draft);
    const described = { policies: 2, assignments: 1, removePolicies: 1, policyIds: [readers, ofRole] };
    const facts = (await admin.pipeline.entries()).slice(-3).map((entry) => entry.facts);
    const expected = expect.objectContaining({ draft: described });
    expect(facts).toEqual([{ question: expected }, { question: expected }, { question: expected }]);
  });
});
