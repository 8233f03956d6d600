import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

const UNKNOWN = '0198c0de-0000-7000-8000-000000000009';

interface Listed {
  readonly data: readonly { readonly revision: number; readonly summary: string; readonly change: string }[];
  readonly count: number;
  readonly nextCursor?: string;
}

async function change(id: string, body: Readonly<Record<string, string | number>>): Promise<void> {
  await admin.send('admin.policies.update', { params: { id }, body });
}

describe('admin.policies.history', () => {
  it('returns each change once over its pages', async () => {
    const id = await createdPolicy(admin, 'paged');
    for (const priority of [1, 2, 3]) await change(id, { priority });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query = `limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const page = await admin.bodyOf<Listed>('admin.policies.history', { params: { id }, query });
      expect(page.count).toBe(page.data.length);
      found.push(...page.data.map(({ summary }) => summary.replace(/:.*/s, '')));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const changed = [3, 2, 1].map((priority) => `the policy has priority ${priority} instead of ${priority === 1 ? 100 : priority - 1}`);
    expect(found).toEqual([...changed, 'created policy "paged" with 1 rule']);
  });

  it('names three differences of a change and the number of others', async () => {
    const id = await createdPolicy(admin, 'many');
    await change(id, { name: 'lots', description: 'd', type: 'CUSTOM', priority: 1 });
    const { data } = await admin.bodyOf<Listed>('admin.policies.history', { params: { id } });
    expect(data[0]?.summary).toBe(
      'the policy is named "lots" instead of "many"; the description of the policy is "d"; the policy has type CUSTOM instead of ROLE_BASED; 1 more',
    );
  });

  it.each([
    ['admin.policies.history', {}, '', 'POLICY_UNKNOWN'],
    ['admin.policies.version', { revision: '1' }, '', 'POLICY_UNKNOWN'],
    ['admin.policies.version', { revision: '0' }, '', 'VALUE_INVALID revision:pattern'],
    ['admin.policies.version', { revision: '999999' }, '', 'REVISION_UNKNOWN'],
    ['admin.policies.diff', {}, 'from=1', 'POLICY_UNKNOWN'],
    ['admin.policies.diff', {}, 'from=x', 'REQUEST_PARAMETER from:type'],
    ['admin.policies.diff', {}, 'from=1&to=999999', 'POLICY_UNKNOWN'],
  ])('%s with %j and ?%s of a policy that never existed fails with %s', async (endpoint, params, query, code) => {
    await expect(codeOf(admin.send(endpoint, { params: { id: UNKNOWN, ...params }, query }))).resolves.toBe(code);
  });
});

describe('admin.policies.diff', () => {
  it('compares a version with the current one by default', async () => {
    const id = await createdPolicy(admin, 'compared');
    const { data } = await admin.bodyOf<Listed>('admin.policies.history', { params: { id } });
    await change(id, { priority: 7 });
    const query = `from=${data[0]?.revision}`;
    expect(await admin.bodyOf('admin.policies.diff', { params: { id }, query })).toMatchObject({
      count: 1,
      data: {
        from: { change: 'created' },
        to: { change: 'updated', by: { id: 'ada' } },
        differences: [{ path: 'priority', before: 100, after: 7 }],
      },
    });
  });
});
