import { expect, it } from 'vitest';
import { policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintEvery, READ } from './lint.fixture.ts';

const LIST = { resource: 'Article', action: 'list' } as const;
const other = (...rules: readonly SomeRule[]) => policyOf('q', rules);

/** Returns `path detail` of each finding about lists, of a policy of role `user` and other policies. */
function lint(
  rules: readonly SomeRule[],
  others: readonly ReturnType<typeof policyOf>[] = [],
  role: 'user' | 'editor' = 'user',
): readonly string[] {
  const rolePolicies = [toRole('user', 'p'), ...others.map(({ id }) => toRole(role, id))];
  const found = lintEvery({ policies: [policyOf('p', rules), ...others], rolePolicies });
  return found.filter(({ code, level }) => code === 'not-listed' && level === 'info').map(({ path, detail }) => `${path} ${detail}`);
}

it.each<[string, readonly SomeRule[], readonly string[]]>([
  ['a rule that allows reading', [READ], ['rules.0 role "user" may read records of Article, but no rule allows it to list them']],
  [
    'the first of several rules',
    [{ ...READ, conditions: [comparison('resource.id')] }, { ...READ, action: 'update', conditions: [drafts] }, READ],
    ['rules.1 role "user" may update records of Article, but no rule allows it to list them'],
  ],
  ['no rule beside one on lists', [READ, { ...LIST, conditions: [drafts] }], []],
  ['no rule beside one on all actions', [READ, { ...LIST, action: '*', conditions: [drafts] }], []],
  ['no rule beside one on all resources', [READ, { ...LIST, resource: '*', conditions: [drafts] }], []],
  ['a rule beside a DENY on lists', [READ, { ...LIST, ...DENY }], [expect.stringMatching(/^rules\.0 /)]],
  ['no rule on the record with a certain id', [{ ...READ, conditions: [comparison('resource.id', 'eq', '${user.id}')] }], []],
  ['no rule that never fires', [READ, { ...READ, ...DENY, priority: 900 }], []],
  [
    'no DENY, and no rule on other actions or all resources',
    [
      { ...READ, ...DENY },
      { ...READ, action: 'delete' },
      { ...READ, resource: '*' },
    ],
    [],
  ],
])('reports records that a role may not list: %s', (_, rules, expected) => {
  expect(lint(rules)).toEqual(expected);
});

it.each<[string, 'user' | 'editor', number]>([
  ['of the same role', 'user', 0],
  ['of another role', 'editor', 1],
])('a rule on lists in another policy counts %s', (_, role, count) => {
  expect(lint([READ], [other(LIST)], role)).toHaveLength(count);
});

it('names the rule to add, with the conditions of the reading rule', () => {
  const todoOf = (rule: SomeRule) => lintEvery({ policies: [policyOf('p', [rule])], rolePolicies: [toRole('user', 'p')] })[0]?.todo;
  expect(todoOf(READ)).toBe('to allow lists, add the rule { "resource": "Article", "action": "list" }');
  expect(todoOf({ ...READ, conditions: [drafts] })).toBe(
    'to allow lists, add the rule { "resource": "Article", "action": "list", "conditions": […] } with the conditions of this rule',
  );
});
