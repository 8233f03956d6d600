import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, lintWorld, READ, type TestPolicies, when } from './finding.fixture.ts';

describe('a DENY that fires where a value is missing', () => {
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
  const users = { looked: 10, all: true, having: new Map([['department', 7]]) };
  function whoOf(rule: SomeRule, role: 'anon' | 'user' = 'user', others: Partial<TestPolicies> = {}): readonly string[] {
    const policies = [policyOf('p', [{ ...READ, ...DENY, ...rule }])];
    return lintWorld({ definitions, users, policies, rolePolicies: [toRole(role, 'p')], ...others })
      .filter(({ code }) => code === 'fires-on-missing')
      .map(({ detail, todo }) => `${/also fires for (.*): what is missing/.exec(detail)?.[1]} → ${todo}`);
  }
  const ifExists = 'if that is not meant, say "ifExists": true on the condition';
  const exists = (path: string) =>
    `if that is not meant, add { "field": "${path}", "operator": "exists", "value": true } to the conditions`;
  const department = comparison('user.department', 'ne', 'it');
  const withoutDepartment = 'users without "user.department" (3 of 10 active users have none now)';

  const rows: readonly [what: string, rule: SomeRule, expected: readonly string[]][] = [
    ['a field of users', when(department), [`${withoutDepartment} → ${ifExists}`]],
    ['with ifExists', when({ ...department, ifExists: true }), []],
    ['beside exists', when(comparison('user.department', 'exists', true), department), []],
    ['beside exists in an expression', when({ expression: 'has(user.department) && user.department != "it"' }), []],
    ['or isNull', when({ anyOf: [comparison('user.department', 'isNull', true), department] }), []],
    ['under not', when({ not: department }), [`${withoutDepartment} → ${exists('user.department')}`]],
    [
      'on the right side',
      when(comparison('resource.title', 'ne', `\${user.department}`)),
      [`${withoutDepartment} → ${exists('user.department')}`],
    ],
    ['a field that users must have', when(comparison('user.email', 'ne', 'a@example.com')), []],
    ['the id of whoever asks', when(comparison('user.id', 'ne', `\${resource.authorId}`)), []],
    ['a claim', when(comparison('user.tier', 'eq', 1)), [`every stored user, since no field of User is called "tier", → ${ifExists}`]],
    ['a field of records', when(comparison('resource.status')), [`records without "resource.status" → ${ifExists}`]],
    [
      'a field that only deleted records have',
      { resource: 'Page', ...when(comparison('resource.deletedBy', 'ne', 'me')) },
      [`every record that is not deleted → ${ifExists}`],
    ],
    ['another of those', { resource: 'Page', ...when(comparison('resource.title')) }, [`records without "resource.title" → ${ifExists}`]],
    ['a field that records must have', when(comparison('resource.title')), []],
    ['a field that every record has been given', when(comparison('resource.stage')), []],
    ['the same of users', when(comparison('user.level', 'lt', 2)), []],
    [
      'through a reference that may be missing to what is given',
      when(comparison('resource.editorId.level', 'lt', 2)),
      [`records without "resource.editorId.level" → ${ifExists}`],
    ],
    [
      'through a reference to what may be missing',
      when(comparison('resource.authorId.department')),
      [`records without "resource.authorId.department" → ${ifExists}`],
    ],
    ['through a reference to what must be there', when(comparison('resource.authorId.email')), []],
    [
      'through a reference that may be missing',
      when(comparison('resource.editorId.email')),
      [`records without "resource.editorId.email" → ${ifExists}`],
    ],
    ['inside JSON', when(comparison('resource.extra.a')), [`records without "resource.extra.a" → ${ifExists}`]],
    ['what is sent', when(comparison('request.data.status')), [`requests that do not send "request.data.status" → ${ifExists}`]],
    ['the time', when(comparison('environment.hour', 'lt', 6)), []],
    ['the address', when(comparison('request.ip', 'ncidr', '10.0.0.0/8')), []],
    ['the name of the resource', when(comparison('resource.name')), []],
    ['a resource that is not defined', { resource: 'Later', ...when(comparison('resource.status')) }, []],
    [
      'on all resources, what some may lack',
      { resource: '*', ...when(comparison('resource.createdBy')) },
      [`records without "resource.createdBy" → ${ifExists}`],
    ],
    ['beside what is unknown for everybody', when(department, comparison('resource.gone')), []],
    ['an ALLOW', { effect: 'ALLOW', ...when(department) }, []],
  ];
  it.each(rows)('%s', (_, rule, expected) => expect(whoOf(rule)).toEqual(expected));

  it('tells of callers without a token where the policy is assigned to them', () => {
    expect(whoOf(when(comparison('user.id', 'ne', `\${resource.authorId}`)), 'anon')).toEqual([`callers without a token → ${ifExists}`]);
    expect(whoOf(when(department), 'anon')).toEqual([`${withoutDepartment} and callers without a token → ${ifExists}`]);
    expect(whoOf(when(comparison('user.role', 'ne', 'admin')), 'anon')).toEqual([]);
  });

  it('says so where it has not looked at all users', () => {
    expect(whoOf(when(department), 'user', { users: { ...users, all: false } })[0]).toContain(
      '(3 of the first 10 active users have none now)',
    );
  });

  it('knows an attribute that is a field and that nobody has, only where it has looked at everybody', () => {
    const codesWith = (having: number, all = true, looked = 10) =>
      lintWorld({
        definitions,
        users: { looked, all, having: new Map([['department', having]]) },
        policies: [policyOf('p', [{ ...READ, ...when(department) }])],
        rolePolicies: [toRole('user', 'p')],
      }).map(({ code }) => code);
    expect([codesWith(0), codesWith(1), codesWith(0, false), codesWith(0, true, 0)]).toEqual([['attribute-nobody-has'], [], [], []]);
  });

  it.each([
    [1, 'the only active user has no value in "department", so "user.department" is missing'],
    [7, 'none of the 7 active users has a value in "department", so "user.department" is missing for all of them'],
  ])('counts %i of them', (looked, detail) => {
    const policies = [policyOf('p', [{ ...READ, ...when(department) }])];
    const others = { looked, all: true, having: new Map([['department', 0]]) };
    expect(lintWorld({ definitions, users: others, policies, rolePolicies: [toRole('user', 'p')] })).toMatchObject([{ detail }]);
  });
});
