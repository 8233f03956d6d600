import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../authz/policies/index.ts';
import { createAnswerSize } from '../answer-size.ts';
import type { Transaction } from '../contract.ts';
import { replaceMembers, type TestDatabase } from '../storage.fixture.ts';
import { assignToRole, assignToUser } from './assignment-records.ts';
import { openPolicyDatabase, resetPolicies, toPolicyInput } from './policy.fixture.ts';
import { createPolicy, deletePolicy, updatePolicy } from './policy-records.ts';
import {
  loadFittingPolicies,
  loadPolicyPage,
  loadPolicySummaries,
  POLICY_ORDERS,
  type PolicyOrder,
  type PolicyPageQuery,
} from './policy-search.ts';

const by = 'admin-1';
let test: TestDatabase;
const ids: string[] = [];

const ruleOn = (resource: string): PolicyInput['rules'][number] => ({
  resource,
  action: 'read',
  effect: 'ALLOW',
  conditions: [],
  priority: 1,
  isActive: true,
});

/** The policies of the tests, in the order of their creation. */
const POLICIES: readonly PolicyInput[] = [
  toPolicyInput('Editors', {
    description: 'change drafts',
    tags: ['newsroom', 'x"y'],
    priority: 5,
    rules: [ruleOn('Article'), ruleOn('Article'), ruleOn('Comment')],
  }),
  toPolicyInput('authors', { tags: ['news'], priority: 5, isActive: false, rules: [ruleOn('Article')] }),
  toPolicyInput('Straße 100%', { description: 'ÉDITEURS', tags: [], priority: 1, type: 'ROLE_BASED', rules: [ruleOn('*')] }),
  toPolicyInput('Desk', { tags: ['y"'], priority: 9, rules: [] }),
];

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return test.database.transaction(work);
}

beforeAll(async () => {
  test = await openPolicyDatabase();
  await resetPolicies(test);
  for (const input of POLICIES) ids.push((await inTransaction((tx) => createPolicy(tx, input, { by, reason: `for ${input.name}` }))).id);
  const [editors = '', authors = ''] = ids;
  await inTransaction((tx) => assignToRole(tx, { policyId: editors, role: 'editor' }, { by }));
  await inTransaction((tx) => assignToRole(tx, { policyId: editors, role: 'admin' }, { by }));
  await inTransaction((tx) => assignToUser(tx, { policyId: editors, userId: 'u1' }, { by }));
  await inTransaction((tx) => assignToUser(tx, { policyId: authors, userId: 'u1' }, { by, isActive: false }));
});
afterAll(() => test.dispose());

const namesOf = async (query: Partial<PolicyPageQuery>) =>
  (await inTransaction((tx) => loadPolicyPage(tx, { limit: 100, ...query }))).map(({ name }) => name);

describe('a search for policies', () => {
  it.each<[string, Partial<PolicyPageQuery>, readonly string[]]>([
    ['a part of a name in another case', { search: 'EDIT' }, ['Editors']],
    ['a part of a description', { search: 'Drafts' }, ['Editors']],
    ['letters beyond ASCII', { search: 'éditeurs' }, ['Straße 100%']],
    ['ASCII letters that fold like others', { search: 'STRASSE' }, ['Straße 100%']],
    ['a character that is special in patterns', { search: '0%' }, ['Straße 100%']],
    ['a text that none contains', { search: '_' }, []],
    ['a resource', { resource: 'Article' }, ['Editors', 'authors']],
    ['every resource', { resource: '*' }, ['Straße 100%']],
    ['a part of a resource', { resource: 'Art' }, []],
    ['a tag', { tag: 'news' }, ['authors']],
    ['a tag that another tag contains as JSON', { tag: 'y' }, []],
    ['a tag with a quote', { tag: 'y"' }, ['Desk']],
    ['a role', { assignedTo: { role: 'editor' } }, ['Editors']],
    ['a user, also of an inactive assignment', { assignedTo: { userId: 'u1' } }, ['Editors', 'authors']],
    ['a state and a type', { isActive: true, type: 'ROLE_BASED' }, ['Straße 100%']],
    ['several filters', { search: 'r', resource: 'Article', isActive: false }, ['authors']],
  ])('finds policies by %s', async (_, query, expected) => {
    expect(await namesOf(query)).toEqual(expected);
  });

  it.each(POLICY_ORDERS)('returns each policy once over pages in the order %s', async (order: PolicyOrder) => {
    const key = order.replace('-', '') as 'id' | 'name' | 'updatedAt' | 'priority';
    const found: string[] = [];
    for (let after: PolicyPageQuery['after']; ; ) {
      const [policy] = await inTransaction((tx) => loadPolicyPage(tx, { order, after, limit: 1 }));
      if (policy === undefined) break;
      found.push(policy.id);
      after = { id: policy.id, ...(key !== 'id' && { key: policy[key] }) };
    }
    const all = await inTransaction((tx) => loadPolicyPage(tx, { limit: 100 }));
    const sorted = all.toSorted((a, b) => (a[key] === b[key] ? (a.id < b.id ? -1 : 1) : a[key] < b[key] ? -1 : 1)).map(({ id }) => id);
    expect(found).toEqual(order.startsWith('-') ? sorted.toReversed() : sorted);
    expect(found).toHaveLength(POLICIES.length);
  });
});

describe('a page of policies with their rules', () => {
  const inputs = Array.from({ length: 12 }, (_, nth) =>
    toPolicyInput(`with rules ${nth}`, { rules: Array.from({ length: nth < 10 ? 1 : 600 }, () => ruleOn('Article')) }),
  );

  it('needs few statements, and loads at most 1,000 rules at once', async () => {
    const { created, policies, loads } = await inTransaction(async (tx) => {
      const ids: string[] = [];
      for (const input of inputs) ids.push((await createPolicy(tx, input, { by })).id);
      const loaded: number[] = [];
      const counting = replaceMembers(tx, {
        all: async (query) => {
          const rows = await tx.all(query);
          loaded.push(rows.length);
          return rows as readonly never[];
        },
      });
      const fitting = await loadFittingPolicies(counting, ids, createAnswerSize(10_000_000));
      for (const id of ids) await deletePolicy(tx, id, { by });
      return { created: ids, policies: fitting.policies, loads: loaded };
    });
    expect(policies.map(({ id, rules }) => [id, rules.length])).toEqual(created.map((id, nth) => [id, nth < 10 ? 1 : 600]));
    // The numbers of rules; then policies and rules of the first eleven, and those of the last.
    expect(loads).toEqual([12, 11, 610, 1, 600]);
  });
});

describe('the summary of a policy', () => {
  it('contains the numbers of rules and assignments, the resources and the last change', async () => {
    const [editors, authors, , desk] = await inTransaction((tx) => loadPolicySummaries(tx, { limit: 100 }));
    expect(editors).not.toHaveProperty('rules');
    expect(editors).toMatchObject({
      name: 'Editors',
      tags: ['newsroom', 'x"y'],
      ruleCount: 3,
      resources: ['Article', 'Comment'],
      assignments: { roles: ['admin', 'editor'], users: 1 },
      lastChange: { revision: editors?.version, at: editors?.updatedAt, by, reason: 'for Editors' },
    });
    expect(authors).toMatchObject({ ruleCount: 1, assignments: { roles: [], users: 1 } });
    expect(desk).toMatchObject({ ruleCount: 0, resources: [], assignments: { roles: [], users: 0 } });
  });

  it('names the last of several changes', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('changed'), { by, reason: 'first' }));
    await inTransaction((tx) => updatePolicy(tx, toPolicyInput('changed', { priority: 2 }), { id, by: 'other' }));
    const [summary] = await inTransaction((tx) => loadPolicySummaries(tx, { search: 'changed', limit: 1 }));
    await inTransaction((tx) => deletePolicy(tx, id, { by }));
    expect(summary?.lastChange).toEqual({ revision: summary?.version, at: summary?.updatedAt, by: 'other' });
  });
});
