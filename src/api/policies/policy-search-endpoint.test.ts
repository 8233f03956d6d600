import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

interface Page {
  readonly data: readonly { readonly name: string }[];
  readonly nextCursor?: string;
  readonly warnings?: readonly string[];
}

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

describe('admin.policies.list', () => {
  it('returns every policy once over its pages', async () => {
    for (const name of ['first of a page', 'second of a page', 'third of a page']) await createdPolicy(admin, name);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await admin.send('admin.policies.list', { query: `limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}` });
      const page = body as { data: readonly { id: string }[]; count: number; nextCursor?: string };
      expect(page.count).toBe(page.data.length);
      expect(page.data.length).toBeLessThanOrEqual(2);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const all = (await admin.send('admin.policies.list', { query: 'limit=1000' })).body as { data: readonly { id: string }[] };
    expect(ids).toEqual(all.data.map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(3);
  });

  it('ends a page early that would be too large, and returns every policy once over its pages', async () => {
    const small = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } }, { pageBytes: 1200 });
    for (let index = 0; index < 14; index++) await createdPolicy(small, `of a large page ${index}`);
    const names: string[] = [];
    let [cursor, warned]: [string | undefined, number] = [undefined, 0];
    do {
      const page: Page = await small.bodyOf<Page>('admin.policies.list', {
        query: `limit=1000&search=large${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      });
      expect(page.warnings?.length).toBe(page.nextCursor === undefined ? undefined : 1);
      if (page.warnings !== undefined) warned++;
      names.push(...page.data.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect([names, warned > 3]).toEqual([Array.from({ length: 14 }, (_, index) => `of a large page ${index}`), true]);
    await small.pipeline.dispose();
  });

  it('refuses the cursor of another list', async () => {
    const query = `cursor=${Buffer.from('user 0198c0de-0000-7000-8000-000000000004').toString('base64url')}`;
    await expect(codeOf(admin.send('admin.policies.list', { query }))).resolves.toMatch(/^REQUEST_CURSOR/);
  });

  it('counts the findings of every policy after some requests', async () => {
    for (let index = 0; index < 50; index++) await createdPolicy(admin, `counted ${index}`);
    const id = await createdPolicy(admin, 'counted inactive');
    await admin.send('admin.policies.update', { params: { id }, body: { isActive: false } });
    const summaries = async () => {
      const { data } = await admin.bodyOf<{ data: readonly { id: string; findings?: number }[] }>('admin.policies.list', {
        query: 'summary=true&search=counted',
      });
      return data;
    };
    let listed = await summaries();
    // Each request counts at least one policy.
    for (let requests = 1; requests < 51 && listed.some(({ findings }) => findings === undefined); requests++) listed = await summaries();
    const advised = await Promise.all(
      listed.map(async ({ id: policyId }) => admin.bodyOf<{ count: number }>('admin.advice.list', { query: `policyId=${policyId}` })),
    );
    expect(listed.map(({ findings }) => findings)).toEqual(advised.map(({ count }) => count));
    expect(new Set(advised.map(({ count }) => count))).toEqual(new Set([0, 1]));
  });

  it('lists only policies of the given type and state', async () => {
    const id = await createdPolicy(admin, 'listed');
    await createdPolicy(admin, 'listed, and active');
    await admin.send('admin.policies.update', { params: { id }, body: { isActive: false } });
    // The search leaves out the policies of the other tests, which run in any order.
    const list = await admin.bodyOf('admin.policies.list', { query: 'isActive=false&type=ROLE_BASED&search=listed' });
    expect(list).toMatchObject({ count: 1, data: [{ id }] });
  });

  it.each([
    ['isActive=1', 'isActive:type'],
    ['type=ROLE', 'type:enum'],
    ['isactive=true', 'isactive:unknown'],
  ])('refuses the list of policies ?%s', async (query, mistake) => {
    await expect(codeOf(admin.send('admin.policies.list', { query }))).resolves.toBe(`REQUEST_PARAMETER ${mistake}`);
  });
});
