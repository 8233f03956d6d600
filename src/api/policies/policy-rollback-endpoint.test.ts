import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Policy } from '../../authz/policies/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { rollBackPolicy } from '../../storage/index.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

interface Stored {
  readonly data: { readonly version: number; readonly priority: number };
  readonly assignments: readonly object[];
}

describe('admin.policies.rollback', () => {
  it('returns the restored policy with its ETag, and the assignments that it revoked; a dry run stores nothing', async () => {
    const id = await createdPolicy(admin, 'rolled back');
    const { data } = await admin.bodyOf<Stored>('admin.policies.read', { params: { id } });
    await admin.send('admin.policies.update', { params: { id }, body: { priority: 7 } });
    await admin.send('admin.assignments.role.create', { params: { policyId: id, role: 'viewer' } });
    const body = { revision: data.version, reason: 'undo', assignments: true };
    const before = await admin.bodyOf('admin.policies.read', { params: { id } });
    const dry = await admin.bodyOf('admin.policies.rollback', { params: { id }, body: { ...body, dryRun: true } });
    expect(dry).toMatchObject({ dryRun: true, data: { priority: 100 }, assignments: [{ outcome: 'revoked', role: 'viewer' }] });
    expect(await admin.bodyOf('admin.policies.read', { params: { id } })).toEqual(before);
    const reply = await admin.send('admin.policies.rollback', { params: { id }, body });
    const restored = reply.body as Stored;
    expect(restored).toMatchObject({ data: { priority: 100 }, assignments: [{ outcome: 'revoked', role: 'viewer' }] });
    expect(reply).toMatchObject({ status: 200, headers: { etag: `"${restored.data.version}"` } });
  });

  it('refuses a rollback of more than 10,000 assignments before it changes anything', async () => {
    const id = await createdPolicy(admin, 'many');
    const { data: policy } = await admin.bodyOf<{ data: Policy }>('admin.policies.read', { params: { id } });
    const common = { policyId: id, assignedBy: 'ada', assignedAt: policy.createdAt, isActive: true, priority: 100, version: 1 };
    const assignments = Array.from({ length: 10_001 }, (_, index) => ({ ...common, id: `a${index}`, role: 'viewer' as const }));
    const work = admin.deps.database.transaction((tx) => rollBackPolicy(tx, { policy, revision: 1, assignments }, { by: 'ada' }));
    await expect(codeOf(work)).resolves.toBe('REQUEST_BUDGET');
    expect(await admin.bodyOf('admin.policies.read', { params: { id } })).toMatchObject({ data: policy });
  });

  it('refuses a rollback without a reason, of an unknown policy, and of another version', async () => {
    const id = await createdPolicy(admin, 'refused');
    const { data } = await admin.bodyOf<Stored>('admin.policies.read', { params: { id } });
    const rollBack = (params: { id: string }, body: Record<string, string | number>, headers = {}) =>
      codeOf(admin.send('admin.policies.rollback', { params, body, headers }));
    const body = { revision: data.version, reason: 'undo' };
    expect(await rollBack({ id }, { revision: data.version })).toBe('VALUE_INVALID reason:required');
    expect(await rollBack({ id: '0198c0de-0000-7000-8000-000000000009' }, body)).toBe('POLICY_UNKNOWN');
    expect(await rollBack({ id }, body, { 'if-match': '"1"' })).toBe('RECORD_VERSION');
  });
});
