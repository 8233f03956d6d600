import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

const rule = { resource: 'Article', action: 'read' };

async function create(name: string): Promise<{ readonly id: string; readonly version: number; readonly rules: readonly { id: string }[] }> {
  const { body } = await admin.send('admin.policies.create', { body: { name, type: 'ROLE_BASED', rules: [rule] } });
  return (body as { data: Awaited<ReturnType<typeof create>> }).data;
}

describe('admin.policies.create', () => {
  it('stores a policy with the defaults of absent members', async () => {
    const body: Json = { name: 'readers', type: 'ROLE_BASED', rules: [rule] };
    const created = await admin.send('admin.policies.create', { body });
    const defaults = { isActive: true, priority: 100, tags: [], createdBy: 'ada', rules: [{ effect: 'ALLOW', conditions: [] }] };
    expect(created).toMatchObject({ status: 201, body: { data: { ...defaults, name: 'readers' } } });
    expect(created.headers?.['location']).toBe(`/admin/api/policies/${(created.body as { data: { id: string } }).data.id}`);
  });

  it.each<[string, Json | undefined, string]>([
    ['no body', undefined, ':required'],
    ['a list as its body', [], ':type'],
    ['members of the service', { name: 'p', type: 'CUSTOM', rules: [], id: 'mine', version: 1 }, 'id:readOnly version:readOnly'],
    [
      'mistakes of the schema and of conditions',
      { name: '', type: 'CUSTOM', rules: [{ ...rule, conditions: [{ field: 'resource.titel', operator: 'eq', value: 'x' }] }] },
      'name:tooShort rules.0.conditions.0.field:field',
    ],
  ])('refuses a new policy with %s', async (_, body, mistakes) => {
    const request = body === undefined ? {} : { body };
    await expect(codeOf(admin.send('admin.policies.create', request))).resolves.toBe(`POLICY_INVALID ${mistakes}`);
  });
});

describe('admin.policies.update', () => {
  it('accepts a policy as it was returned, with a changed member', async () => {
    const policy = await create('returned');
    const changed = await admin.send('admin.policies.update', { params: { id: policy.id }, body: { ...policy, priority: 5 } as Json });
    expect(changed).toMatchObject({ status: 200, body: { data: { priority: 5, rules: [{ id: policy.rules[0]?.id }] } } });
  });

  it('refuses a change of another version of a policy, and of members that the service sets', async () => {
    const { id } = await create('versioned');
    const request = { params: { id }, body: { createdBy: 'ann' } };
    await expect(codeOf(admin.send('admin.policies.update', request))).resolves.toBe('POLICY_INVALID createdBy:readOnly');
    const stale = { ...request, headers: { 'if-match': '"1"' } };
    await expect(codeOf(admin.send('admin.policies.update', stale))).resolves.toBe('RECORD_VERSION');
  });
});

describe('admin.policies.read and admin.policies.delete', () => {
  it('no policy is found after its deletion', async () => {
    const { id } = await create('deleted');
    const read = await admin.send('admin.policies.read', { params: { id } });
    expect(read).toMatchObject({ status: 200, body: { data: { id, name: 'deleted' } } });
    await admin.send('admin.policies.delete', { params: { id } });
    for (const operation of ['read', 'delete'])
      await expect(codeOf(admin.send(`admin.policies.${operation}`, { params: { id } }))).resolves.toBe('POLICY_UNKNOWN');
  });
});

describe('admin.templates.list', () => {
  it('returns templates that are valid policies', async () => {
    const { data } = await admin.bodyOf<{ data: readonly { template: Json }[] }>('admin.templates.list');
    for (const { template } of data) expect((await admin.send('admin.policies.create', { body: template })).status).toBe(201);
    expect(data.length).toBeGreaterThan(5);
  });
});
