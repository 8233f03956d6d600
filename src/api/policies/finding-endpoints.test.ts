import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createPolicy, type Transaction } from '../../storage/index.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';
import { assignmentWarnings, policyWarnings } from './finding-endpoints.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

/** Creates a policy without assignments, with a rule for each effect. */
function create(name: string, rules: readonly ('ALLOW' | 'DENY')[] = []) {
  const rule = { resource: 'Article', action: 'read', conditions: [], priority: 100, isActive: true } as const;
  const policy = { name, type: 'ROLE_BASED', isActive: true, priority: 100, tags: [] } as const;
  const input = { ...policy, rules: rules.map((effect) => ({ ...rule, effect })) };
  return admin.deps.database.transaction((tx) => createPolicy(tx, input, { by: 'ada' }));
}

/** Returns a member of a transaction; its methods have private members, so they are called on the transaction itself. */
function bound(tx: Transaction, name: keyof Transaction): unknown {
  const member: unknown = tx[name];
  return typeof member === 'function' ? member.bind(tx) : member;
}

interface Page {
  readonly data: readonly { readonly code: string; readonly policy: { readonly name: string } }[];
  readonly count: number;
  readonly nextCursor?: string;
}
const list = (query: string): Promise<Page> => admin.bodyOf('admin.advice.list', { query });

describe('admin.advice.list', () => {
  it('lists the findings of one policy', async () => {
    const { id } = await create('empty');
    const { data, count } = await list(`policyId=${id}`);
    expect([data.map(({ code }) => code), count]).toEqual([['empty', 'unassigned'], 2]);
  });

  it('lists only findings with the given code', async () => {
    const { id } = await create('empty too');
    expect((await list(`policyId=${id}&code=unassigned`)).data).toMatchObject([{ code: 'unassigned', policy: { name: 'empty too' } }]);
  });

  it('returns the names of users if they are asked for', async () => {
    const { id } = await create('expired for ann', ['ALLOW']);
    const expiresAt = new Date(0).toISOString();
    await admin.send('admin.assignments.user.create', { params: { policyId: id, userId: 'ann' }, body: { expiresAt } });
    const named = await admin.bodyOf('admin.advice.list', { query: `policyId=${id}&code=expired&names=true` });
    expect(named).toMatchObject({ data: [{ users: ['ann'] }], names: { users: { ann: 'Ann' } } });
    expect(await list(`policyId=${id}&code=expired`)).not.toHaveProperty('names');
  });

  it('continues after the last policy of the previous page', async () => {
    const [first, second] = [await create('page a'), await create('page b')];
    const names: string[] = [];
    for (let query = 'limit=1'; ; ) {
      const { data, nextCursor } = await list(query);
      names.push(...new Set(data.map(({ policy }) => policy.name)));
      if (nextCursor === undefined) break;
      query = `limit=1&cursor=${nextCursor}`;
    }
    expect(names.filter((name) => [first.name, second.name].includes(name))).toEqual([first.name, second.name]);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['limit=0', 'REQUEST_PARAMETER limit:range'],
    ['limit=1001', 'REQUEST_PARAMETER limit:range'],
    ['limit=many', 'REQUEST_PARAMETER limit:type'],
    ['code=nothing', 'REQUEST_PARAMETER code:enum'],
    ['policyId=', 'REQUEST_PARAMETER policyId:tooShort'],
    ['policy=p1&limit=0', 'REQUEST_PARAMETER policy:unknown limit:range'],
    ['cursor=xyz', 'REQUEST_CURSOR'],
    ['policyId=unknown', 'POLICY_UNKNOWN'],
  ])('refuses ?%s with %s', async (query, expected) => {
    expect(await codeOf(list(query))).toBe(expected);
  });
});

describe('policyWarnings', () => {
  const warningsOf = (policy: Awaited<ReturnType<typeof create>>, isNew: boolean) =>
    admin.deps.database.transaction(async (tx) => {
      const snapshot = await admin.deps.policyStore.snapshot(tx);
      return policyWarnings({ tx, snapshot, deps: admin.deps }, policy, { isNew });
    });

  it('does not report a new policy as unassigned', async () => {
    const policy = await create('new');
    expect((await warningsOf(policy, true)).warnings?.map(({ code }) => code)).toEqual(['empty']);
    expect((await warningsOf(policy, false)).warnings?.map(({ code }) => code)).toEqual(['empty', 'unassigned']);
  });

  it('returns no member if there are no findings', async () => {
    expect(await warningsOf(await create('fine', ['ALLOW']), true)).toEqual({});
  });

  it('counts the users with a value only for a policy that reads attributes of users', async () => {
    const counted: string[] = [];
    for (const conditions of [
      [],
      [{ field: 'user.id', operator: 'eq', value: 'u1' }],
      [{ field: 'user.name', operator: 'eq', value: 'Ann' }],
    ]) {
      const stored = await create(`reads users ${JSON.stringify(conditions)}`, ['ALLOW']);
      const policy = { ...stored, rules: stored.rules.map((rule) => ({ ...rule, conditions })) };
      await admin.deps.database.transaction(async (tx) => {
        const snapshot = await admin.deps.policyStore.snapshot(tx);
        const one: Transaction['one'] = (query) => {
          if (JSON.stringify(query).includes('counted')) counted.push(JSON.stringify(conditions));
          return tx.one(query);
        };
        const observed = new Proxy({} as Transaction, { get: (_, name: keyof Transaction) => (name === 'one' ? one : bound(tx, name)) });
        await policyWarnings({ tx: observed, snapshot, deps: admin.deps }, policy, { isNew: true });
      });
    }
    expect(counted).toEqual([expect.stringContaining('user.name')]);
  });

  it('returns the first 100 findings and says that there are more', async () => {
    const { warnings, warningsTruncated } = await warningsOf(await create('many', ['DENY', ...Array<'ALLOW'>(101).fill('ALLOW')]), true);
    expect([warnings?.length, warningsTruncated]).toEqual([100, true]);
  });
});

it('keeps the snapshot that a change of a policy loads for its findings', async () => {
  const { id } = await create('changed');
  const { revision } = await admin.deps.database.transaction((tx) => admin.deps.policyStore.snapshot(tx));
  await admin.send('admin.policies.update', { params: { id }, body: { priority: 7 } });
  expect(admin.deps.policyStore.revision()).toBe(revision.number + 1);
});

describe('assignmentWarnings', () => {
  it('reports the assignment of an inactive policy', async () => {
    const policy = { ...(await create('inactive')), isActive: false };
    const assignment = { id: 'a1', role: 'user', policyId: policy.id, assignedBy: 'ada', assignedAt: '2026-01-31T09:00:00.000Z' } as const;
    const found = await admin.deps.database.transaction(async (tx) => {
      const snapshot = await admin.deps.policyStore.snapshot(tx);
      return assignmentWarnings({ tx, snapshot, deps: admin.deps }, policy, { ...assignment, isActive: true, priority: 100, version: 1 });
    });
    expect(found.warnings?.map(({ code }) => code)).toEqual(['assigned-inactive']);
  });
});
