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

const NEVER: readonly (readonly [string, SomeRule, RegExp])[] = [
  [
    'a value that an enum lacks',
    when({ not: comparison('resource.state', 'in', ['open', 'Closed']) }),
    /^rules\.0\.conditions\.0\.not\.value never-equal: item 1: "Closed".*"closed"\?/,
  ],
  [
    'hours over midnight',
    when(comparison('environment.hour', 'between', [22, 6])),
    /^rules\.0\.conditions\.0\.value never-equal: .*22 and 6.*"timeOfDayBetween".*\["22:00", "07:00"\]/,
  ],
  [
    'an attribute of the user with a value that its enum lacks',
    when(comparison('user.department', 'eq', 'Sales')),
    /^rules\.0\.conditions\.0\.value never-equal: "Sales".*user\.department.*"sales"\?/,
  ],
  [
    'an action of other rules',
    when(comparison('request.action', 'in', ['read', 'list'])),
    /^rules\.0\.conditions\.0\.value never-equal: item 1: "list".*request\.action.*"read"$/,
  ],
  [
    'the name of another resource',
    when(comparison('resource.name', 'eq', 'Tickets')),
    /^rules\.0\.conditions\.0\.value never-equal: "Tickets".*resource\.name.*"Ticket"\?/,
  ],
  [
    'an expression',
    when({ expression: 'resource.state == "Open"' }),
    /^rules\.0\.conditions\.0\.expression never-equal: .*"Open".*resource\.state.*"open"\?/,
  ],
  [
    'a night of two conditions',
    when(comparison('environment.hour', 'gte', 22), comparison('environment.hour', 'lt', 6)),
    /^rules\.0\.conditions never-holds: .*environment\.hour.*gte 22, lt 6$/,
  ],
  [
    'two values of one field',
    when({ expression: 'resource.state == "open" && resource.state == "closed"' }),
    /^rules\.0\.conditions never-holds: .*resource\.state.*eq "open", eq "closed"$/,
  ],
  [
    'a variable of another product',
    when(comparison('resource.owner', 'eq', '$user.id')),
    /^rules\.0\.conditions foreign-reference: "\$user\.id".*"\$\{user\.id\}"/,
  ],
  [
    'a variable of another product in a list',
    when(comparison('resource.owner', 'in', [`\${user.id}`, '@request.auth.id'])),
    /^rules\.0\.conditions foreign-reference: "@request\.auth\.id".*"\$\{user\.id\}"/,
  ],
  [
    'a path without its marker',
    when(comparison('resource.owner', 'eq', 'user.id')),
    /^rules\.0\.conditions foreign-reference: "user\.id".*"\$\{user\.id\}"/,
  ],
];

describe('findings about literals', () => {
  it.each(NEVER)('finds a literal that makes a condition constant: %s', (_, conditions, expected) => {
    expect(findingsOf(conditions)).toEqual([expect.stringMatching(expected)]);
  });

  it.each([
    ['possible values', when(comparison('resource.state', 'eq', 'open'), comparison('environment.hour', 'gte', 22))],
    ['conditions that one hour meets', when(comparison('environment.hour', 'gte', 8), comparison('environment.hour', 'lt', 9))],
    ['a list with both values', when(comparison('resource.labels', 'has', 'a'), comparison('resource.labels', 'has', 'b'))],
    ['either of two', when({ anyOf: [comparison('resource.state', 'eq', 'open'), comparison('resource.state', 'eq', 'closed')] })],
    ['a removed field', when(comparison('resource.gone', 'eq', 'x'))],
    [
      'prices and addresses',
      when(comparison('resource.owner', 'in', ['$5', 'ann@example.com', '{}', '@ann', 'user.created', 'user.', '%'])),
    ],
  ])('reports no finding about %s', (_, conditions) => {
    expect(findingsOf(conditions)).toEqual([]);
  });
});
