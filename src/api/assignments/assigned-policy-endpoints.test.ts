import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

interface SizedPage {
  readonly data: readonly { readonly id: string }[];
  readonly nextCursor?: string;
  readonly warnings?: readonly string[];
}

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

describe('the lists of assigned policies', () => {
  it('lists each assigned policy with its assignment', async () => {
    const policyId = await createdPolicy(admin, 'for Ben and for users');
    await admin.send('admin.assignments.user.create', { params: { policyId, userId: 'ben' } });
    await admin.send('admin.assignments.role.create', { params: { policyId, role: 'viewer' } });
    const own = { params: { userId: 'ben' } };
    const assigned = { id: policyId, assignment: expect.objectContaining({ policyId, userId: 'ben' }) };
    expect(await admin.bodyOf('admin.assignments.ofUser', own)).toMatchObject({ count: 1, data: [assigned] });
    const byRole = expect.objectContaining({ id: policyId, assignment: expect.objectContaining({ role: 'viewer' }) });
    const both = await admin.bodyOf('admin.assignments.ofUser', { ...own, query: 'role=viewer' });
    expect(both).toMatchObject({ data: expect.arrayContaining([expect.objectContaining(assigned), byRole]) });
    const ofRole = await admin.bodyOf('admin.assignments.ofRole', { params: { role: 'viewer' } });
    expect(ofRole).toMatchObject({ data: expect.arrayContaining([byRole]) });
  });

  it('a page that would be too large ends early, also between the policies of a user and those of a role', async () => {
    const small = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } }, { pageBytes: 1500 });
    const expected: string[] = [];
    for (let index = 0; index < 6; index++) {
      const policyId = await createdPolicy(small, `policy ${index}`);
      if (index < 3) await small.send('admin.assignments.user.create', { params: { policyId, userId: 'ben' } });
      else await small.send('admin.assignments.role.create', { params: { policyId, role: 'viewer' } });
      expected.push(policyId);
    }
    const found: string[] = [];
    let [cursor, pages]: [string | undefined, number] = [undefined, 0];
    do {
      const page: SizedPage = await small.bodyOf<SizedPage>('admin.assignments.ofUser', {
        params: { userId: 'ben' },
        query: `role=viewer&limit=1000${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      });
      expect(page.warnings?.length).toBe(page.nextCursor === undefined ? undefined : 1);
      found.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect([found, pages > 1]).toEqual([expected, true]);
    await small.pipeline.dispose();
  });

  it('refuses a list of policies of a role that does not exist', async () => {
    const refused = admin.send('admin.assignments.ofUser', { params: { userId: 'ben' }, query: 'role=boss' });
    await expect(codeOf(refused)).resolves.toBe('REQUEST_PARAMETER role:enum');
  });

  it('returns every policy of a user, then every policy of the role, once over its pages', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) {
      const policyId = await createdPolicy(admin, `${name} of Ann`);
      await admin.send('admin.assignments.user.create', { params: { policyId, userId: 'ann' } });
      await admin.send('admin.assignments.role.create', { params: { policyId, role: 'editor' } });
    }
    const pageOf = (query: string) => admin.bodyOf<Page>('admin.assignments.ofUser', { params: { userId: 'ann' }, query });
    const all = await pageOf('role=editor&limit=1000');
    expect(all.data.map(({ assignment }) => 'userId' in assignment)).toEqual([true, true, true, false, false, false]);
    for (const limit of [1, 2, 3, 4]) {
      const found: Page['data'][number][] = [];
      let page = await pageOf(`role=editor&limit=${limit}`);
      for (found.push(...page.data); page.nextCursor !== undefined; found.push(...page.data))
        page = await pageOf(`role=editor&limit=${limit}&cursor=${page.nextCursor}`);
      expect(found).toEqual(all.data);
    }
  });

  it('refuses the cursor of another list', async () => {
    const ofRole = await admin.bodyOf<Page>('admin.assignments.ofRole', { params: { role: 'editor' }, query: 'limit=1' });
    const refused = admin.send('admin.assignments.ofUser', { params: { userId: 'ann' }, query: `cursor=${ofRole.nextCursor}` });
    await expect(codeOf(refused)).resolves.toMatch(/^REQUEST_CURSOR/);
  });
});

interface Page {
  readonly data: readonly { readonly id: string; readonly assignment: object }[];
  readonly nextCursor?: string;
}
