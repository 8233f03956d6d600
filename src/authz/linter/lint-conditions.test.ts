import { describe, expect, it } from 'vitest';
import { policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintAll, READ, when } from './lint.fixture.ts';

describe('findings about a single rule', () => {
  const deny: SomeRule = { ...DENY };
  const rows: readonly [what: string, rule: SomeRule, expected: readonly string[]][] = [
    ['no finding', { ...READ, ...when(comparison('resource.title')) }, []],
    ['an inactive rule', { resource: 'Artikle', isActive: false }, []],
    [
      'a resource without a definition',
      { ...READ, resource: 'Artikle' },
      [
        'resource unknown-resource: resource "Artikle" has no definition (did you mean "Article"?): the rule applies to nothing until it is defined',
      ],
    ],
    [
      'an internal resource',
      { ...READ, resource: '_Policy' },
      ['resource unknown-resource: resource "_Policy" has no definition: the rule applies to nothing until it is defined'],
    ],
    [
      'eq null on a stored field',
      { ...READ, ...when(comparison('resource.title', 'eq', null)) },
      ['conditions eq-null: "resource.title" eq null is never true: a field without a value is missing, not null'],
    ],
    ['eq null on the body of the request', { ...READ, ...when(comparison('request.data.title', 'eq', null)) }, []],
    [
      'resource.name on *',
      when(comparison('resource.name')),
      ['conditions ambiguous-name: "resource.name" is the field "name" of User, Desk, and the name of the resource for all others'],
    ],
    ['resource.name on one resource', { resource: 'Desk', ...when(comparison('resource.name')) }, []],
    [
      'five conditions',
      { ...READ, ...when(drafts, { anyOf: [comparison('user.name'), comparison('user.email')] }, { not: drafts }, comparison('user.id')) },
      ['conditions many-conditions: the rule has 5 conditions: a rule with fewer than 5 is easier to understand'],
    ],
    ['four conditions', { ...READ, ...when(drafts, drafts, drafts, drafts) }, []],
    [
      'a removed field',
      { ...READ, ...when(drafts, comparison('resource.gone')) },
      [
        'conditions.1.field always-unknown: the condition does not fit the current definitions (resource Article has no field "gone"): it is always unknown, and an ALLOW does not fire on unknown',
      ],
    ],
    [
      'a removed field in a DENY',
      { ...READ, ...DENY, ...when(comparison('resource.gone')) },
      [
        'conditions.0.field always-unknown: the condition does not fit the current definitions (resource Article has no field "gone"): it is always unknown, and a DENY fires on unknown',
      ],
    ],
    [
      'an attribute that User lacks',
      { ...READ, ...when(comparison('user.departmnt')) },
      ['conditions attribute-never-set: User has no field "departmnt": only a token of another issuer can contain "user.departmnt"'],
    ],
    [
      'a pattern in a list',
      { ...READ, action: 'list', ...when(comparison('resource.title', 'matches', '^a')) },
      ['conditions in-memory: the database cannot evaluate "matches" on "resource.title": lists and exports filter the records in memory'],
    ],
    ['a pattern in a read', { ...READ, ...when(comparison('resource.title', 'matches', '^a')) }, []],
    ['a pattern of the user', { ...READ, action: 'list', ...when(comparison('user.name', 'matches', '^a')) }, []],
    [
      'an expression that SQL cannot evaluate',
      { ...READ, action: 'export', ...when({ expression: 'size(resource.tags) > 2' }) },
      ['conditions in-memory: the database cannot evaluate this expression: lists and exports filter the records in memory'],
    ],
    ['an expression that SQL can evaluate', { ...READ, action: 'export', ...when({ expression: 'resource.status == "draft"' }) }, []],
    [
      'a DENY on * on a field that some resources lack',
      { ...deny, ...when(comparison('resource.title')) },
      ['conditions closes: this DENY denies all access to User, Desk, because they have no "resource.title"'],
    ],
    ['the same with ifExists', { ...deny, ...when({ ...comparison('resource.title'), ifExists: true }) }, []],
    ['the same with isNull', { ...deny, ...when(comparison('resource.title', 'isNull', true)) }, []],
    ['the same beside exists', { ...deny, ...when(comparison('resource.title', 'exists', true), comparison('resource.title')) }, []],
    ['the same as ALLOW', when(comparison('resource.title')), []],
    [
      'a DENY on * that compares with such a field',
      { ...deny, ...when({ not: comparison('user.id', 'eq', `\${resource.authorId}`) }) },
      ['conditions closes: this DENY denies all access to User, Desk, because they have no "resource.authorId"'],
    ],
    ['a DENY on * on a field of all resources', { ...deny, ...when(comparison('resource.createdAt', 'withinLast', '1d')) }, []],
  ];
  it.each(rows)('checks a single rule: %s', (_, rule, expected) => {
    const findings = lintAll({ policies: [policyOf('p', [rule])], rolePolicies: [toRole('user', 'p')] });
    expect(findings.map(({ path, code, detail }) => `${path?.replace('rules.0.', '')} ${code}: ${detail}`)).toEqual(expected);
    for (const finding of findings)
      expect(finding).toMatchObject({ policy: { id: 'p', name: 'policy p' }, rule: { id: 'p.0' }, todo: /./ });
  });
});
