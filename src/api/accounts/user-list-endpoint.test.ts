import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
let policyId: string;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  policyId = await createdPolicy(admin, 'Readers');
  await admin.send('admin.assignments.user.create', { params: { policyId, userId: 'ann' }, body: { isActive: false } });
});
afterAll(() => admin.pipeline.dispose());

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly nextCursor?: string;
}

const list = (query = '') => admin.bodyOf<Listed>('admin.users.list', { query });
const idsOf = ({ data }: Listed) => data.map(({ id }) => id);

describe('the list of users', () => {
  it('shows the built-in fields, the number of assignments and the open session of each user', async () => {
    const user = (await list('search=ann')).data[0];
    expect(user).toEqual({
      id: 'ann',
      name: 'Ann',
      email: expect.stringContaining('ann'),
      role: expect.any(String),
      isActive: true,
      createdAt: expect.any(String),
      hasSession: expect.any(Boolean),
      assignments: 1,
    });
  });

  it('searches in names and emails in any case, and takes no character for a wildcard', async () => {
    expect(idsOf(await list('search=ANN'))).toContain('ann');
    expect(idsOf(await list('search=nn%40'))).toContain('ann');
    expect(idsOf(await list('search=%25'))).toEqual([]);
    expect(idsOf(await list('search=A_N'))).toEqual([]);
  });

  it('filters by role, by status and by the policy of an assignment', async () => {
    const all = idsOf(await list());
    expect(idsOf(await list('role=admin'))).toEqual(['ada']);
    expect(idsOf(await list('isActive=true')).length + idsOf(await list('isActive=false')).length).toBe(all.length);
    expect(idsOf(await list(`policyId=${policyId}`))).toEqual(['ann']);
    expect(idsOf(await list(`policyId=${policyId}&search=ada`))).toEqual([]);
  });

  it('refuses the cursor of another list', async () => {
    const cursor = Buffer.from('policy 0198c0de-0000-7000-8000-00000000000b').toString('base64url');
    expect((await codeOf(admin.send('admin.users.list', { query: `cursor=${cursor}` }))).trim()).toBe('REQUEST_CURSOR');
  });
});
