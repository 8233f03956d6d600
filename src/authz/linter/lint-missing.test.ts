import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, lintAll, READ, type TestPolicies, when } from './lint.fixture.ts';

describe('a DENY that fires if a value is missing', () => {
  const definitions = definitionsOf(
    {
      name: 'User',
      fields: {
        name: { type: 'string' },
        email: { type: 'email', required: true },
        role: { type: 'enum', values: ['anon', 'user', 'admin', 'editor'], required: true },
        department: { type: 'string' },
        level: { type: 'integer', default: 1 },
      },
    },
    {
      name: 'Article',
      fields: {
        title: { type: 'string', required: true },
        status: { type: 'string' },
        stage: { type: 'string', default: 'draft' },
        authorId: { type: 'reference', to: 'User', required: true },
        editorId: { type: 'reference', to: 'User' },
        extra: { type: 'json', required: true },
      },
    },
    { name: 'Page', softDelete: true, fields: { title: { type: 'string' } } },
  );
  const users = { counted: 10, isComplete: true, withValue: new Map([['department', 7]]) };
  function lackersOf(rule: SomeRule, role: 'anon' | 'user' = 'user', others: Partial<TestPolicies> = {}): readonly string[] {
    const policies = [policyOf('p', [{ ...READ, ...DENY, ...rule }])];
    return lintAll({ definitions, users, policies, rolePolicies: [toRole(role, 'p')], ...others })
      .filter(({ code }) => code === 'fires-on-missing')
      .map(({ detail, todo }) => `${/also fires for (.*): a missing value/.exec(detail)?.[1]} → ${todo.replace(/; if it is, .*$/, '')}`);
  }
  const ifExists = 'if that is not intended, set "ifExists": true on the condition';
  const exists = (path: string) =>
    `if that is not intended, add { "field": "${path}", "operator": "exists", "value": true } to the conditions`;
  const department = comparison('user.department', 'ne', 'it');
  const withoutDepartment = 'users without "user.department" (3 of 10 active users have none now)';

  const rows: readonly [what: string, rule: SomeRule, expected: readonly string[]][] = [
    ['a field of users', when(department), [`${withoutDepartment} → ${ifExists}`]],
    ['with ifExists', when({ ...department, ifExists: true }), []],
    ['together with exists', when(comparison('user.department', 'exists', true), department), []],
    ['together with exists in an expression', when({ expression: 'has(user.department) && user.department != "it"' }), []],
    ['or isNull', when({ anyOf: [comparison('user.department', 'isNull', true), department] }), []],
    ['under not', when({ not: department }), [`${withoutDepartment} → ${exists('user.department')}`]],
    [
      'on the right side',
      when(comparison('resource.title', 'ne', `\${user.department}`)),
      [`${withoutDepartment} → ${exists('user.department')}`],
    ],
    ['a field that users must have', when(comparison('user.email', 'ne', 'a@example.com')), []],
    ['the id of the caller', when(comparison('user.id', 'ne', `\${resource.authorId}`)), []],
    ['a claim', when(comparison('user.tier', 'eq', 1)), [`every stored user (User has no field "tier") → ${ifExists}`]],
    ['a field of records', when(comparison('resource.status')), [`records without "resource.status" → ${ifExists}`]],
    [
      'a field that only deleted records have',
      { resource: 'Page', ...when(comparison('resource.deletedBy', 'ne', 'me')) },
      [`every record that is not deleted → ${ifExists}`],
    ],
    [
      'another field of such a resource',
      { resource: 'Page', ...when(comparison('resource.title')) },
      [`records without "resource.title" → ${ifExists}`],
    ],
    ['a field that records must have', when(comparison('resource.title')), []],
    ['a field of records with a default', when(comparison('resource.stage')), []],
    ['a field of users with a default', when(comparison('user.level', 'lt', 2)), []],
    [
      'a field with a default through an optional reference',
      when(comparison('resource.editorId.level', 'lt', 2)),
      [`records without "resource.editorId.level" → ${ifExists}`],
    ],
    [
      'an optional field through a required reference',
      when(comparison('resource.authorId.department')),
      [`records without "resource.authorId.department" → ${ifExists}`],
    ],
    ['a required field through a required reference', when(comparison('resource.authorId.email')), []],
    [
      'a required field through an optional reference',
      when(comparison('resource.editorId.email')),
      [`records without "resource.editorId.email" → ${ifExists}`],
    ],
    ['inside JSON', when(comparison('resource.extra.a')), [`records without "resource.extra.a" → ${ifExists}`]],
    ['the body of the request', when(comparison('request.data.status')), [`requests without "request.data.status" → ${ifExists}`]],
    ['the time', when(comparison('environment.hour', 'lt', 6)), []],
    ['the address', when(comparison('request.ip', 'ncidr', '10.0.0.0/8')), []],
    ['the name of the resource', when(comparison('resource.name')), []],
    ['a resource that is not defined', { resource: 'Later', ...when(comparison('resource.status')) }, []],
    [
      'on all resources, a field that some records lack',
      { resource: '*', ...when(comparison('resource.createdBy')) },
      [`records without "resource.createdBy" → ${ifExists}`],
    ],
    [
      'a field that a condition on related records compares',
      when({
        related: {
          resource: 'Article',
          as: 'a',
          on: { authorId: '${user.id}' },
          where: [comparison('a.status', 'ne', '${user.department}')],
        },
      }),
      [`${withoutDepartment} → ${exists('user.department')}`],
    ],
    [
      'a field that a condition on related records compares with on',
      when({ related: { resource: 'Article', as: 'a', on: { status: '${user.department}' } } }),
      [`${withoutDepartment} → ${exists('user.department')}`],
    ],
    ['together with a condition that is always unknown', when(department, comparison('resource.gone')), []],
    ['an ALLOW', { effect: 'ALLOW', ...when(department) }, []],
  ];
  it.each(rows)('checks a DENY for missing values: %s', (_, rule, expected) => expect(lackersOf(rule)).toEqual(expected));

  it.each([
    ['user.department', department],
    ['user.tier', comparison('user.tier', 'eq', 1)],
    ['resource.status', { not: comparison('resource.status') }],
  ] as const)('says how to state that a DENY is meant to fire without %s, which ends the finding', (_, condition) => {
    const policies = [policyOf('p', [{ ...READ, ...DENY, ...when(condition) }])];
    const [finding] = lintAll({ definitions, users, policies, rolePolicies: [toRole('user', 'p')] }).filter(
      ({ code }) => code === 'fires-on-missing',
    );
    const [, stated = ''] = /if it is, replace the condition by (.*)$/.exec(finding?.todo ?? '') ?? [];
    expect(lackersOf(when(JSON.parse(stated.replace('<the condition>', JSON.stringify(condition)))))).toEqual([]);
  });

  it('reports callers without a token if the policy is assigned to anon', () => {
    expect(lackersOf(when(comparison('user.id', 'ne', `\${resource.authorId}`)), 'anon')).toEqual([
      `callers without a token → ${ifExists}`,
    ]);
    expect(lackersOf(when(department), 'anon')).toEqual([`${withoutDepartment} and callers without a token → ${ifExists}`]);
    expect(lackersOf(when(comparison('user.role', 'ne', 'admin')), 'anon')).toEqual([]);
  });

  it('reports if not all users were counted', () => {
    expect(lackersOf(when(department), 'user', { users: { ...users, isComplete: false } })[0]).toMatch(/3 of the first 10 active users/);
  });

  it('reports an attribute without values only if all users were counted', () => {
    const codesWith = (count: number, isComplete = true, counted = 10) =>
      lintAll({
        definitions,
        users: { counted, isComplete, withValue: new Map([['department', count]]) },
        policies: [policyOf('p', [{ ...READ, ...when(department) }])],
        rolePolicies: [toRole('user', 'p')],
      }).map(({ code }) => code);
    expect([codesWith(0), codesWith(1), codesWith(0, false), codesWith(0, true, 0)]).toEqual([['attribute-never-set'], [], [], []]);
  });

  it.each([
    [1, /the only active user .*"department"/],
    [7, /none of the 7 active users .*"department"/],
  ])('names the number of active users without a value in the message: %i', (counted, detail) => {
    const policies = [policyOf('p', [{ ...READ, ...when(department) }])];
    const others = { counted, isComplete: true, withValue: new Map([['department', 0]]) };
    expect(lintAll({ definitions, users: others, policies, rolePolicies: [toRole('user', 'p')] })).toMatchObject([
      { detail: expect.stringMatching(detail) },
    ]);
  });
});
