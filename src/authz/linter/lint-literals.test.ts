import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { USER } from '../../resources/system/user-definition.ts';
import { comparison, lintAll, when } from './lint.fixture.ts';

const DEFINITIONS = definitionsOf(
  { name: 'User', fields: { ...(USER['fields'] as object), department: { type: 'enum', values: ['sales', 'law'] } } },
  {
    name: 'Ticket',
    fields: {
      state: { type: 'enum', values: ['open', 'closed'] },
      labels: { type: 'list', of: { type: 'enum', values: ['a', 'b'] } },
      owner: { type: 'string' },
    },
  },
);

const CODES = ['never-equal', 'never-holds', 'foreign-reference'];

function findingsOf(conditions: SomeRule): readonly string[] {
  const policies = [policyOf('p', [{ resource: 'Ticket', action: 'read', ...conditions }])];
  const findings = lintAll({ definitions: DEFINITIONS, policies, rolePolicies: [toRole('user', 'p')] });
  return findings.filter(({ code }) => CODES.includes(code)).map(({ path, code, detail }) => `${path} ${code}: ${detail}`);
}

const NEVER: readonly (readonly [string, SomeRule, string])[] = [
  [
    'a value that an enum lacks',
    when({ not: comparison('resource.state', 'in', ['open', 'Closed']) }),
    'conditions.0.not.value never-equal: item 1: "Closed" is no value of resource.state: expected one of "open", "closed" (did you mean "closed"?)',
  ],
  [
    'hours over midnight',
    when(comparison('environment.hour', 'between', [22, 6])),
    'conditions.0.value never-equal: nothing lies between 22 and 6: expected the lower bound of environment.hour first; for hours over midnight use "timeOfDayBetween" on environment.timestamp with ["22:00", "07:00"]',
  ],
  [
    'an attribute of the user with a value that its enum lacks',
    when(comparison('user.department', 'eq', 'Sales')),
    'conditions.0.value never-equal: "Sales" is no value of user.department: expected one of "sales", "law" (did you mean "sales"?)',
  ],
  [
    'an action of other rules',
    when(comparison('request.action', 'in', ['read', 'list'])),
    'conditions.0.value never-equal: item 1: "list" is no value of request.action: expected one of "read"',
  ],
  [
    'the name of another resource',
    when(comparison('resource.name', 'eq', 'Tickets')),
    'conditions.0.value never-equal: "Tickets" is no value of resource.name: expected one of "Ticket" (did you mean "Ticket"?)',
  ],
  [
    'an expression',
    when({ expression: 'resource.state == "Open"' }),
    'conditions.0.expression never-equal: resource.state: "Open" is no value of resource.state: expected one of "open", "closed" (did you mean "open"?)',
  ],
  [
    'a night of two conditions',
    when(comparison('environment.hour', 'gte', 22), comparison('environment.hour', 'lt', 6)),
    'conditions never-holds: no value of environment.hour meets all of its conditions: gte 22, lt 6',
  ],
  [
    'two values of one field',
    when({ expression: 'resource.state == "open" && resource.state == "closed"' }),
    'conditions never-holds: no value of resource.state meets all of its conditions: eq "open", eq "closed"',
  ],
  [
    'a variable of another product',
    when(comparison('resource.owner', 'eq', '$user.id')),
    `conditions foreign-reference: "$user.id" is compared as a text: a reference is written "\${user.id}"`,
  ],
  [
    'a variable of another product in a list',
    when(comparison('resource.owner', 'in', [`\${user.id}`, '@request.auth.id'])),
    `conditions foreign-reference: "@request.auth.id" is compared as a text: a reference is written "\${user.id}"`,
  ],
];

describe('findings about literals', () => {
  it.each(NEVER)('finds a literal that makes a condition constant: %s', (_, conditions, expected) => {
    expect(findingsOf(conditions)).toEqual([`rules.0.${expected}`]);
  });

  it.each([
    ['possible values', when(comparison('resource.state', 'eq', 'open'), comparison('environment.hour', 'gte', 22))],
    ['conditions that one hour meets', when(comparison('environment.hour', 'gte', 8), comparison('environment.hour', 'lt', 9))],
    ['a list with both values', when(comparison('resource.labels', 'has', 'a'), comparison('resource.labels', 'has', 'b'))],
    ['either of two', when({ anyOf: [comparison('resource.state', 'eq', 'open'), comparison('resource.state', 'eq', 'closed')] })],
    ['a removed field', when(comparison('resource.gone', 'eq', 'x'))],
    ['prices and addresses', when(comparison('resource.owner', 'in', ['$5', 'ann@example.com', '{}', '@ann', 'user.id', '%']))],
  ])('reports no finding about %s', (_, conditions) => {
    expect(findingsOf(conditions)).toEqual([]);
  });
});
