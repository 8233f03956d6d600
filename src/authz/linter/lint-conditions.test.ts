import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintAll, READ, when } from './lint.fixture.ts';

describe('findings about a single rule', () => {
  const deny: SomeRule = { ...DENY };
  const rows: readonly [what: string, rule: SomeRule, expected: readonly RegExp[]][] = [
    ['no finding', { ...READ, ...when(comparison('resource.title')) }, []],
    ['an inactive rule', { resource: 'Artikle', isActive: false }, []],
    ['a resource without a definition', { ...READ, resource: 'Artikle' }, [/^resource unknown-resource: .*"Artikle".*"Article"/]],
    ['the audit log', { ...READ, resource: '_Decision' }, []],
    [
      'a pattern on the audit log',
      { ...READ, resource: '_Decision', ...when(comparison('resource.reason', 'matches', '^a')) },
      [/^conditions in-memory: .*requests to the audit log are denied/],
    ],
    ['an internal resource', { ...READ, resource: '_Policy' }, [/^resource unknown-resource: .*"_Policy"/]],
    [
      'eq null on a stored field',
      { ...READ, ...when(comparison('resource.title', 'eq', null)) },
      [/^conditions eq-null: .*"resource\.title"/],
    ],
    [
      'eq null on a field of related records',
      {
        ...READ,
        ...when({ related: { resource: 'Article', as: 'a', on: { authorId: '${user.id}' }, where: [comparison('a.title', 'eq', null)] } }),
      },
      [/^conditions eq-null: .*"a\.title"/],
    ],
    [
      'a path without its marker in a condition on related records',
      {
        ...READ,
        ...when({
          related: { resource: 'Article', as: 'a', on: { authorId: '${user.id}' }, where: [comparison('a.title', 'eq', 'user.name')] },
        }),
      },
      [/^conditions foreign-reference: .*"user\.name"/],
    ],
    [
      'a path without its marker as a link of related records',
      { ...READ, ...when({ related: { resource: 'Article', as: 'a', on: { title: 'user.name', authorId: '${user.id}' } } }) },
      [/^conditions foreign-reference: .*"user\.name"/, /^conditions related-index: /],
    ],
    ['eq null on the body of the request', { ...READ, ...when(comparison('request.data.title', 'eq', null)) }, []],
    ['resource.name on *', when(comparison('resource.name')), [/^conditions ambiguous-name: .*"resource\.name".* User, Desk\b/]],
    ['resource.name on one resource', { resource: 'Desk', ...when(comparison('resource.name')) }, []],
    [
      'five conditions',
      { ...READ, ...when(drafts, { anyOf: [comparison('user.name'), comparison('user.email')] }, { not: drafts }, comparison('user.id')) },
      [/^conditions many-conditions: .* 5 conditions/],
    ],
    ['four conditions', { ...READ, ...when(drafts, drafts, drafts, drafts) }, []],
    [
      'a removed field',
      { ...READ, ...when(drafts, comparison('resource.gone')) },
      [/^conditions\.1\.field always-unknown: .*"gone".*ALLOW/],
    ],
    [
      'a removed field in a DENY',
      { ...READ, ...DENY, ...when(comparison('resource.gone')) },
      [/^conditions\.0\.field always-unknown: .*"gone".*DENY/],
    ],
    [
      'an attribute that User lacks',
      { ...READ, ...when(comparison('user.departmnt')) },
      [/^conditions attribute-never-set: .*"departmnt"/],
    ],
    [
      'a member of the body that is no field',
      { ...READ, action: 'create', ...when(comparison('request.data.stauts')) },
      [/^conditions unknown-field: Article has no field "stauts" \(did you mean "status"\?\): .*"request\.data\.stauts"/],
    ],
    [
      'a member of the body that is no field, in an expression for all actions',
      { ...READ, action: '*', ...when({ expression: 'request.data.stauts == "x"' }) },
      [/^conditions unknown-field: /],
    ],
    ['a member of the body in a rule that reads', { ...READ, ...when(comparison('request.data.stauts')) }, []],
    ['a member of the body on *', { action: 'create', ...when(comparison('request.data.stauts')) }, []],
    ['a member of the body in a rule on the audit log', { resource: '_Decision', ...when(comparison('request.data.stauts')) }, []],
    [
      'a field in the body',
      { ...READ, action: 'update', ...when(comparison('request.data.title'), comparison('request.data.extra.a')) },
      [],
    ],
    ['the whole body', { ...READ, action: 'import', ...when({ field: 'request.data', operator: 'exists', value: true }) }, []],
    [
      'a pattern in a list',
      { ...READ, action: 'list', ...when(comparison('resource.title', 'matches', '^a')) },
      [/^conditions in-memory: .*"matches" on "resource\.title"/],
    ],
    ['a pattern in a read', { ...READ, ...when(comparison('resource.title', 'matches', '^a')) }, []],
    ['a pattern of the user', { ...READ, action: 'list', ...when(comparison('user.name', 'matches', '^a')) }, []],
    [
      'an expression that SQL cannot evaluate',
      { ...READ, action: 'export', ...when({ expression: 'size(resource.tags) > 2' }) },
      [/^conditions in-memory: .*expression/],
    ],
    ['an expression that SQL can evaluate', { ...READ, action: 'export', ...when({ expression: 'resource.status == "draft"' }) }, []],
    [
      'a DENY on * on a field that some resources lack',
      { ...deny, ...when(comparison('resource.title')) },
      [/^conditions closes: this DENY denies all access to User, Desk\b.*"resource\.title"/],
    ],
    [
      'such a DENY with one action',
      { ...deny, action: 'delete', ...when(comparison('resource.title')) },
      [/^conditions closes: this DENY denies every delete of .*, because they have no "resource\.title"/],
    ],
    [
      'such a DENY with a further condition',
      { ...deny, action: 'delete', ...when(comparison('resource.title'), comparison('user.role', 'eq', 'user')) },
      [
        /^conditions closes: this DENY also fires for delete on .* if its other conditions are not false, because they have no "resource\.title"/,
      ],
    ],
    ['the same with ifExists', { ...deny, ...when({ ...comparison('resource.title'), ifExists: true }) }, []],
    ['the same with isNull', { ...deny, ...when(comparison('resource.title', 'isNull', true)) }, []],
    ['the same beside exists', { ...deny, ...when(comparison('resource.title', 'exists', true), comparison('resource.title')) }, []],
    ['the same as ALLOW', when(comparison('resource.title')), []],
    [
      'a DENY on * that compares with such a field',
      { ...deny, ...when({ not: comparison('user.id', 'eq', `\${resource.authorId}`) }) },
      [/^conditions closes: .* User, Desk\b.*"resource\.authorId"/],
    ],
    ['a DENY on * on a field of all resources', { ...deny, ...when(comparison('resource.createdAt', 'withinLast', '1d')) }, []],
  ];
  it.each([
    ['resource.status == "draft" && (user.isActive ? user.name == "a" : !(user.email == "b" || user.id == "c"))', '5 conditions'],
    ['resource.status == "draft" && user.isActive && ["a", "b"].exists(name, name == user.name) && user.email == "b"', undefined],
    ['user.isActive && (resource.status == "draft" ? user.name == "a" : user.email == "b")', undefined],
    ['resource.status == "draft" ? user.name == "a" && user.email == "b" && user.id == "c" : false', undefined],
  ])('counts the conditions of an expression as they are written: %s', (expression, expected) => {
    const policies = [policyOf('p', [{ ...READ, ...when({ expression }) }], { type: 'CUSTOM' })];
    const found = lintAll({ policies, rolePolicies: [toRole('user', 'p')] });
    const [many] = found.filter(({ code }) => code === 'many-conditions');
    expect(many?.detail.includes(`has ${expected}:`)).toBe(expected === undefined ? undefined : true);
  });

  it.each(rows)('checks a single rule: %s', (_, rule, expected) => {
    const findings = lintAll({ policies: [policyOf('p', [rule])], rolePolicies: [toRole('user', 'p')] });
    expect(findings.map(({ path, code, detail }) => `${path?.replace('rules.0.', '')} ${code}: ${detail}`)).toEqual(
      expected.map((finding) => expect.stringMatching(finding)),
    );
    for (const finding of findings)
      expect(finding).toMatchObject({ policy: { id: 'p', name: 'policy p' }, rule: { id: 'p.0' }, todo: /./ });
  });

  it('reports a path without its marker in a comparison through a list of references', () => {
    const definitions = definitionsOf(
      { name: 'Team', fields: { ownerId: { type: 'string' } } },
      { name: 'Doc', fields: { teamIds: { type: 'list', of: { type: 'reference', to: 'Team' } } } },
    );
    const policies = [
      policyOf('p', [{ resource: 'Doc', action: 'read', ...when(comparison('resource.teamIds.ownerId', 'eq', 'user.id')) }]),
    ];
    const findings = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] });
    expect(findings.map(({ code, todo }) => [code, todo])).toEqual([
      ['foreign-reference', `if a reference is intended, write "\${user.id}"`],
    ]);
  });
});
