import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createPolicy } from '../../storage/index.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
let policyId: string;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: { Article: { fields: { title: { type: 'string' }, status: { type: 'string' }, pin: { type: 'password' } } } },
    records: { Article: { a1: { title: 'Harbour reopens', status: 'draft' } } },
    rules: [
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'delete', conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }] },
      { resource: 'Article', action: 'list', conditions: [{ field: 'environment.hour', operator: 'lt', value: 12 }] },
      { resource: 'Article', action: 'export', conditions: [{ field: 'environment.ip', operator: 'eq', value: '192.0.2.7' }] },
    ],
  });
  const rule = { resource: '*', action: '*', effect: 'ALLOW', conditions: [], priority: 100, isActive: true } as const;
  const policy = { name: 'Alone', type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [rule] } as const;
  policyId = (await admin.deps.database.transaction((tx) => createPolicy(tx, policy, { by: 'ada' }))).id;
});
afterAll(() => admin.pipeline.dispose());

interface Tested {
  readonly data: JsonObject;
  readonly warnings?: readonly string[];
}
const testAccess = (body: JsonObject): Promise<Tested> => admin.bodyOf('admin.tests.access', { body });
const ANN = { id: 'ann' };

describe('admin.tests.access', () => {
  it('decides for a stored user and a stored record', async () => {
    const drafts = { user: ANN, resource: { name: 'Article', id: 'a1' }, action: 'delete' };
    expect((await testAccess(drafts)).data).toMatchObject({ allowed: true, matchedPolicy: { name: expect.any(String) } });
    const published = { ...drafts, resource: { ...drafts.resource, status: 'published' } };
    expect((await testAccess(published)).data).toMatchObject({ allowed: false, matchedPolicy: null, matchedRule: null });
  });

  it('leaves conditions on any record residual, and decides without one for a record without values', async () => {
    const question = { user: ANN, resource: { name: 'Article' }, action: 'delete' };
    const any = await testAccess({ ...question, anyRecord: true });
    expect(any.data).toMatchObject({ allowed: true, conditional: true, when: 'resource.status eq "draft"' });
    expect((await testAccess(question)).data).toMatchObject({ allowed: false });
    expect((await testAccess({ ...question, action: 'read', anyRecord: true })).data).not.toHaveProperty('conditional');
    expect((await testAccess({ ...question, action: 'create', anyRecord: true })).data).toMatchObject({ allowed: false });
  });

  it('decides at the given time, from the given address', async () => {
    const list = { user: ANN, resource: { name: 'Article' }, action: 'list' };
    expect((await testAccess({ ...list, environment: { timestamp: '2026-01-31T09:00:00Z' } })).data['allowed']).toBe(true);
    expect((await testAccess({ ...list, environment: { timestamp: '2026-01-31T15:00:00Z' } })).data['allowed']).toBe(false);
    expect((await testAccess({ ...list, action: 'export', environment: { ip: '192.0.2.7' } })).data['allowed']).toBe(true);
    expect((await testAccess({ ...list, action: 'export', environment: { ip: '192.0.2.8' } })).data['allowed']).toBe(false);
  });

  it('returns the names of the users whose ids conditions compare, if they are asked for', async () => {
    const rules = [
      { resource: 'Article', action: 'update', conditions: [{ field: 'resource.createdBy', operator: 'eq', value: '${user.id}' }] },
      { resource: 'Article', action: 'update', conditions: [{ not: { field: 'user.id', operator: 'in', value: ['ben', 'cleo'] } }] },
    ];
    const draft = { policies: [{ id: policyId, rules }], assignments: [{ policyId, userId: 'ann' }] };
    const body = { user: ANN, resource: { name: 'Article', id: 'a1' }, action: 'update', draft };
    const { names } = await admin.bodyOf<{ names?: unknown }>('admin.tests.access', { body, query: 'names=true' });
    expect(names).toEqual({ users: { ann: 'Ann', ben: 'Ben' } });
    expect(await testAccess(body)).not.toHaveProperty('names');
  });

  it('takes the field `name` of a record from `record`, because `name` in `resource` is the name of the resource', async () => {
    const rules = [{ resource: 'User', action: 'read', conditions: [{ field: 'resource.name', operator: 'eq', value: 'Zed' }] }];
    const draft = { policies: [{ id: policyId, rules }], assignments: [{ policyId, userId: 'ann' }] };
    const question = { user: ANN, resource: { name: 'User', id: 'ann' }, action: 'read', draft };
    expect((await testAccess(question)).data).toMatchObject({ allowed: false });
    expect((await testAccess({ ...question, record: { name: 'Zed' } })).data).toMatchObject({ allowed: true });
    expect((await testAccess({ ...question, resource: { name: 'User' }, record: { name: 'Zed' } })).data).toMatchObject({ allowed: true });
  });

  it('warns about an unknown user', async () => {
    const { warnings } = await testAccess({ user: { id: 'zoe' }, resource: { name: 'Article' }, action: 'read' });
    expect(warnings).toEqual([expect.stringContaining('no user has this id')]);
  });

  it.each<[JsonObject, string]>([
    [{}, 'resource:required action:required'],
    [{ resource: {}, action: 'read' }, 'resource.name:required'],
    [{ resource: { name: 'Artcle' }, action: 'read' }, 'resource.name:unknown'],
    [{ resource: { name: '_Policy' }, action: 'read' }, 'resource.name:unknown'],
    [{ resource: { name: '__proto__' }, action: 'read' }, 'resource.name:unknown'],
    [{ resource: { name: 'Article', stauts: 'draft' }, action: 'read' }, 'resource.stauts:field'],
    [{ resource: { name: 'Article', pin: '1234' }, action: 'read' }, 'resource.pin:field'],
    [
      { resource: { name: 'Article' }, record: { name: 'x', pin: '1', status: 'draft' }, action: 'read' },
      'record.name:field record.pin:field',
    ],
    [{ resource: { name: 'Article', id: 'a1' }, record: { id: 'a2' }, action: 'read' }, 'record.id:field'],
    [{ resource: { name: 'Article' }, record: { status: 'draft' }, action: 'read', anyRecord: true }, 'anyRecord:conflict'],
    [{ resource: { name: 'Article', status: 'draft' }, record: { status: 'live' }, action: 'read' }, 'record.status:conflict'],
    [{ resource: { name: 'Article' }, action: 'raed' }, 'action:enum'],
    [{ resource: { name: 'Article' }, action: 'createIfNotExists' }, 'action:enum'],
    [{ resource: { name: 'Article', id: 5 }, action: 'read', user: { role: 5 } }, 'user.role:type resource.id:type'],
    [{ resource: { name: 'Article' }, action: 'read', environment: { hour: 5 } }, 'environment.hour:unknown'],
    [
      { resource: { name: 'Article' }, action: 'read', environment: { timestamp: 'noon', ip: 'home' } },
      'environment.timestamp:format environment.ip:format',
    ],
    [{ resource: { name: 'Article' }, action: 'read', usr: {} }, 'usr:unknown'],
    [{ resource: { name: 'Article', id: 'a1' }, action: 'read', anyRecord: true }, 'anyRecord:conflict'],
    [{ resource: { name: 'Article', status: 'draft' }, action: 'read', anyRecord: true }, 'anyRecord:conflict'],
  ])('refuses %j with %s', async (body, expected) => {
    expect(await codeOf(testAccess(body))).toBe(`REQUEST_MALFORMED ${expected}`);
  });

  it('suggests fields for at most 10 unknown attributes of the user', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`email${index % 10}${index < 10 ? '' : 'x'}`, 1]));
    const { warnings } = await testAccess({ user: { ...ANN, ...attributes }, resource: { name: 'Article' }, action: 'read' });
    expect(warnings).toHaveLength(10);
    expect(warnings).toContainEqual(expect.stringContaining('did you mean "email"'));
  });

  it('reports at most 100 unknown fields', async () => {
    const fields = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index}`, 1]));
    const [, ...issues] = (await codeOf(testAccess({ resource: { name: 'Article', ...fields }, action: 'read' }))).split(' ');
    expect(issues).toHaveLength(100);
  });
});

describe('admin.tests.policy', () => {
  const body = { user: ANN, resource: { name: 'Article', id: 'a1' }, action: 'update' };

  it('decides as if only this policy were assigned', async () => {
    const evaluation = { matched: true, effect: 'ALLOW', policy: { name: 'Alone' } };
    expect((await testAccess(body)).data['allowed']).toBe(false);
    expect(await admin.bodyOf('admin.tests.policy', { params: { id: policyId }, body })).toMatchObject({
      data: { allowed: true, evaluation },
    });
  });

  it('refuses an unknown policy', async () => {
    expect(await codeOf(admin.send('admin.tests.policy', { params: { id: 'unknown' }, body }))).toBe('POLICY_UNKNOWN');
  });
});
