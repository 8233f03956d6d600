import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
let policyId: string;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  policyId = await createdPolicy(admin, 'Readers');
  const other = await createdPolicy(admin, 'Others');
  const assign = (userId: string, expiresAt: string | null, to = policyId) =>
    admin.send('admin.assignments.user.create', { params: { policyId: to, userId }, body: { expiresAt, context: { ticket: 7 } } });
  await assign('ann', '2031-01-02T00:00:00Z');
  await assign('ben', '2031-01-01T00:00:00Z');
  await assign('ada', null);
  await assign('ada', '2031-01-01T12:00:00Z', other);
  await admin.send('admin.assignments.role.create', { params: { policyId, role: 'editor' }, body: { priority: 200, isActive: false } });
});
afterAll(() => admin.pipeline.dispose());

interface Listed {
  readonly data: readonly { readonly id: string; readonly userId?: string; readonly role?: string }[];
  readonly count: number;
  readonly nextCursor?: string;
  readonly names?: object;
}

const list = (query: string) => admin.bodyOf<Listed>('admin.assignments.list', { query });
const ofPolicy = (query = '') => admin.bodyOf<Listed>('admin.assignments.ofPolicy', { params: { id: policyId }, query });
const assigneesOf = ({ data }: Listed) => data.map(({ userId, role }) => userId ?? role);

describe('the lists of assignments', () => {
  it('lists the assignments of a policy to users and roles, with their kind', async () => {
    const body = await ofPolicy();
    expect(assigneesOf(body)).toEqual(['ann', 'ben', 'ada', 'editor']);
    const members = { policyId, assignedBy: 'ada', assignedAt: expect.any(String), id: expect.any(String), version: expect.any(Number) };
    expect(body.data[0]).toEqual({
      ...members,
      kind: 'user',
      userId: 'ann',
      expiresAt: '2031-01-02T00:00:00.000Z',
      isActive: true,
      context: { ticket: 7 },
    });
    expect(body.data[3]).toEqual({ ...members, kind: 'role', role: 'editor', priority: 200, isActive: false });
    expect(body.names).toBeUndefined();
  });

  it.each([
    ['userId=ada', ['ada', 'ada']],
    ['role=editor', ['editor']],
    ['isActive=false', ['editor']],
    ['expiresBefore=2031-01-02', ['ben', 'ada']],
    ['expiresBefore=2031-01-02T00:00:00.001Z', ['ben', 'ada', 'ann']],
    ['expiresAfter=2031-01-01T12:00:00Z', ['ada', 'ann']],
    ['expiresAfter=2031-01-01T12:00:00Z&expiresBefore=2031-01-02', ['ada']],
    ['role=editor&expiresBefore=2040-01-01', []],
  ])('filters by %s', async (query, expected) => {
    expect(assigneesOf(await list(query))).toEqual(expected);
  });

  it.each(['', 'expiresBefore=2040-01-01&'])('returns each assignment once over its pages, with the query "%s"', async (query) => {
    const all = await list(query);
    const found: unknown[] = [];
    let page = await list(`${query}limit=1`);
    for (found.push(...page.data); page.nextCursor !== undefined; found.push(...page.data))
      page = await list(`${query}limit=1&cursor=${page.nextCursor}`);
    expect(found).toEqual(all.data);
  });

  it('names the users and policies on request', async () => {
    const { names } = await ofPolicy('names=true&limit=1');
    expect(names).toEqual({ users: { ada: 'Ada', ann: 'Ann' }, policies: { [policyId]: 'Readers' } });
  });

  it.each([
    ['a user and a role', 'userId=ann&role=editor', 'REQUEST_PARAMETER role:conflict'],
    ['an expiry that is no moment', 'expiresBefore=soon', 'REQUEST_PARAMETER expiresBefore:format'],
    ['a cursor of another list', `cursor=${Buffer.from('policy x').toString('base64url')}`, 'REQUEST_CURSOR'],
  ])('refuses a list with %s', async (_, query, code) => {
    expect((await codeOf(admin.send('admin.assignments.list', { query }))).trim()).toBe(code);
  });

  it('refuses the cursor of a list in another order', async () => {
    const { nextCursor } = await list('limit=1');
    const refused = admin.send('admin.assignments.list', { query: `expiresBefore=2040-01-01&cursor=${nextCursor}` });
    expect((await codeOf(refused)).trim()).toBe('REQUEST_CURSOR');
  });

  it('refuses a policy that does not exist', async () => {
    expect((await codeOf(admin.send('admin.assignments.ofPolicy', { params: { id: 'none' } }))).trim()).toBe('POLICY_UNKNOWN');
  });
});
