import { describe, expect, it } from 'vitest';
import { policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintWorld, READ, when } from './finding.fixture.ts';

describe('advice on a rule by itself', () => {
  const deny: SomeRule = { ...DENY };
  const rows: readonly [what: string, rule: SomeRule, expected: readonly string[]][] = [
    ['nothing', { ...READ, ...when(comparison('resource.title')) }, []],
    ['an inactive rule', { resource: 'Artikle', isActive: false }, []],
    [
      'a resource that no definition names',
      { ...READ, resource: 'Artikle' },
      [
        'resource unknown-resource: no definition names resource "Artikle" yet (did you mean "Article"?): the rule applies to nothing until one does',
      ],
    ],
    [
      'an internal resource',
      { ...READ, resource: '_Policy' },
      ['resource unknown-resource: no definition names resource "_Policy" yet: the rule applies to nothing until one does'],
    ],
    [
      'eq null on a stored field',
      { ...READ, ...when(comparison('resource.title', 'eq', null)) },
      ['conditions eq-null: "resource.title" eq null never holds: a field without a value is missing, not null'],
    ],
    ['eq null on JSON that was sent', { ...READ, ...when(comparison('request.data.title', 'eq', null)) }, []],
    [
      'resource.name on *',
      when(comparison('resource.name')),
      ['conditions ambiguous-name: "resource.name" is the field "name" of User, Desk and the name of the resource elsewhere'],
    ],
    ['resource.name on one resource', { resource: 'Desk', ...when(comparison('resource.name')) }, []],
    [
      'five conditions',
      { ...READ, ...when(drafts, { anyOf: [comparison('user.name'), comparison('user.email')] }, { not: drafts }, comparison('user.id')) },
      ['conditions many-conditions: the rule has 5 conditions: fewer than 5 in a rule are easier to follow'],
    ],
    ['four conditions', { ...READ, ...when(drafts, drafts, drafts, drafts) }, []],
    [
      'a field that is no longer defined',
      { ...READ, ...when(drafts, comparison('resource.gone')) },
      [
        'conditions.1.field always-unknown: the definitions leave this condition no meaning (resource Article has no field "gone"): it is always unknown, and an ALLOW does not fire on unknown',
      ],
    ],
    [
      'the same of a DENY',
      { ...READ, ...DENY, ...when(comparison('resource.gone')) },
      [
        'conditions.0.field always-unknown: the definitions leave this condition no meaning (resource Article has no field "gone"): it is always unknown, and a DENY fires on unknown',
      ],
    ],
    [
      'an attribute that User lacks',
      { ...READ, ...when(comparison('user.departmnt')) },
      [
        'conditions attribute-nobody-has: no field of User is called "departmnt": only the token of another issuer could bring "user.departmnt"',
      ],
    ],
    [
      'a pattern in a list',
      { ...READ, action: 'list', ...when(comparison('resource.title', 'matches', '^a')) },
      [
        'conditions in-memory: the database cannot say "matches" on "resource.title": lists and exports by this rule are evaluated record by record',
      ],
    ],
    ['a pattern in a read', { ...READ, ...when(comparison('resource.title', 'matches', '^a')) }, []],
    ['a pattern of the user', { ...READ, action: 'list', ...when(comparison('user.name', 'matches', '^a')) }, []],
    [
      'an expression that stays one',
      { ...READ, action: 'export', ...when({ expression: 'size(resource.tags) > 2' }) },
      ['conditions in-memory: the database cannot say this expression: lists and exports by this rule are evaluated record by record'],
    ],
    ['an expression that does not', { ...READ, action: 'export', ...when({ expression: 'resource.status == "draft"' }) }, []],
    [
      'a DENY on * over a field that some lack',
      { ...deny, ...when(comparison('resource.title')) },
      ['conditions closes: this DENY closes User, Desk entirely, for want of a value at "resource.title"'],
    ],
    ['the same with ifExists', { ...deny, ...when({ ...comparison('resource.title'), ifExists: true }) }, []],
    ['the same with isNull', { ...deny, ...when(comparison('resource.title', 'isNull', true)) }, []],
    ['the same beside exists', { ...deny, ...when(comparison('resource.title', 'exists', true), comparison('resource.title')) }, []],
    ['the same as ALLOW', when(comparison('resource.title')), []],
    [
      'a DENY on * that refers to such a field',
      { ...deny, ...when({ not: comparison('user.id', 'eq', `\${resource.authorId}`) }) },
      ['conditions closes: this DENY closes User, Desk entirely, for want of a value at "resource.authorId"'],
    ],
    ['a DENY on * over what all have', { ...deny, ...when(comparison('resource.createdAt', 'withinLast', '1d')) }, []],
  ];
  it.each(rows)('%s', (_, rule, expected) => {
    const advice = lintWorld({ policies: [policyOf('p', [rule])], rolePolicies: [toRole('user', 'p')] });
    expect(advice.map(({ path, code, detail }) => `${path?.replace('rules.0.', '')} ${code}: ${detail}`)).toEqual(expected);
    for (const one of advice) expect(one).toMatchObject({ policy: { id: 'p', name: 'policy p' }, rule: { id: 'p.0' }, todo: /./ });
  });
});
