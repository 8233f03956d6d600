import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

describe('admin.assignments.user.create', () => {
  const send = async (params: Record<string, string>, body?: object) =>
    admin.send('admin.assignments.user.create', { params, ...(body !== undefined && { body: body as Record<string, string> }) });

  it('assigns a policy without a body, and renews an inactive assignment', async () => {
    const pair = { policyId: await createdPolicy(admin, 'for Ann'), userId: 'ann' };
    const created = await send(pair);
    expect(created).toMatchObject({ status: 201, body: { data: { userId: 'ann', assignedBy: 'ada', isActive: true, context: {} } } });
    await expect(codeOf(send(pair))).resolves.toBe('ASSIGNMENT_EXISTS');
    await admin.send('admin.assignments.user.update', { params: pair, body: { isActive: false } });
    expect(await send(pair)).toMatchObject({ status: 200, body: { data: { isActive: true } } });
  });

  it('reports the mistakes of an assignment and a context that is too long at once', async () => {
    const pair = { policyId: await createdPolicy(admin, 'wrong'), userId: 'ann' };
    const body = { isActive: 'yes', expiresAt: 'soon', priority: 1, context: { notes: 'x'.repeat(10_000) } };
    await expect(codeOf(send(pair, body))).resolves.toBe('VALUE_INVALID priority:unknown expiresAt:format isActive:type context:tooLong');
  });

  it.each([
    ['a policy that does not exist', { policyId: 'none', userId: 'ann' }, 'POLICY_UNKNOWN'],
    ['a policy to a user that does not exist', { userId: 'none' }, 'USER_UNKNOWN'],
    ['a policy with an id of 201 characters', { policyId: 'x'.repeat(201), userId: 'ann' }, 'VALUE_INVALID policyId:tooLong'],
  ])('refuses the assignment of %s', async (_, pair, code) => {
    const policyId = await createdPolicy(admin, `missing ${code}`);
    await expect(codeOf(send({ policyId, ...pair }))).resolves.toBe(code);
  });
});

describe('the endpoints of an assignment to a role', () => {
  it('an assignment to a role is created, read, changed and deleted, each with an audit entry', async () => {
    const params = { policyId: await createdPolicy(admin, 'for editors'), role: 'editor' };
    await admin.send('admin.assignments.role.create', { params, body: { priority: 7 } });
    const changed = await admin.send('admin.assignments.role.update', { params, body: { priority: 9 } });
    const read = await admin.send('admin.assignments.role.read', { params });
    expect(read).toMatchObject({ status: 200, body: { data: { role: 'editor', priority: 9 } } });
    expect(read.headers).toEqual(changed.headers);
    await admin.send('admin.assignments.role.delete', { params });
    await expect(codeOf(admin.send('admin.assignments.role.read', { params }))).resolves.toBe('ASSIGNMENT_UNKNOWN');
    const entries = (await admin.pipeline.entries()).filter(({ recordId }) => recordId === params.policyId);
    expect(entries.map(({ resource, action }) => `${resource} ${action}`)).toEqual([
      'RolePolicy create',
      'RolePolicy update',
      'Admin assignments.role.read',
      'RolePolicy delete',
    ]);
  });

  it.each([
    ['without a body', undefined, 'VALUE_INVALID :required'],
    ['with the body null', null, 'VALUE_INVALID :type'],
  ])('refuses a change of an assignment %s', async (given, body, code) => {
    const params = { policyId: await createdPolicy(admin, `changed ${given}`), role: 'user' };
    await admin.send('admin.assignments.role.create', { params });
    const request = { params, ...(body !== undefined && { body }) };
    await expect(codeOf(admin.send('admin.assignments.role.update', request))).resolves.toBe(code);
  });

  it('refuses an assignment to a role that does not exist', async () => {
    const params = { policyId: await createdPolicy(admin, 'for no role'), role: 'editr' };
    await expect(codeOf(admin.send('admin.assignments.role.read', { params }))).resolves.toBe('VALUE_INVALID role:enum');
  });

  it('refuses a change of another version of an assignment', async () => {
    const params = { policyId: await createdPolicy(admin, 'versioned'), role: 'viewer' };
    await admin.send('admin.assignments.role.create', { params });
    const stale = { params, body: { priority: 1 }, headers: { 'if-match': '"1"' } };
    await expect(codeOf(admin.send('admin.assignments.role.update', stale))).resolves.toBe('RECORD_VERSION');
  });
});
