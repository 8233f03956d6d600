import { describe, expect, it } from 'vitest';
import { definitionsOf, LIMITS, policyOf, scopeOf } from '../../../test/policy-fixtures.ts';
import { evaluate } from '../../conditions/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { USER } from '../../resources/system/user-definition.ts';
import { compileRule } from './compiled-rule.ts';
import { parsePolicy } from './parse-policy.ts';

const DEFINITIONS = definitionsOf(
  {
    name: 'Ticket',
    fields: {
      state: { type: 'enum', values: ['open', 'closed', 'on hold'] },
      labels: { type: 'list', of: { type: 'enum', values: ['bug', 'feature'] } },
      amount: { type: 'integer' },
      price: { type: 'decimal' },
      due: { type: 'date' },
      title: { type: 'string' },
      extra: { type: 'json' },
      authorId: { type: 'reference', to: 'User' },
      pin: { type: 'enum', values: ['one', 'two'], writeOnly: true },
    },
  },
  {
    name: 'User',
    fields: {
      ...(USER['fields'] as JsonObject),
      department: { type: 'enum', values: ['sales'] },
      managerId: { type: 'reference', to: 'User' },
    },
  },
  { name: 'Task', fields: { state: { type: 'enum', values: ['todo', 'open'] }, title: { type: 'enum', values: ['a'] } } },
);

const is = (field: string, operator: string, value: Json): JsonObject => ({ field, operator, value });
const says = (expression: string): JsonObject => ({ expression });

function issuesOf(condition: JsonObject, resource = 'Ticket'): string[] {
  const rules = [{ resource, action: '*', effect: 'DENY', conditions: [condition] }];
  const { issues } = parsePolicy({ name: 'p', type: 'CUSTOM', rules }, { definitions: DEFINITIONS, limits: LIMITS });
  return issues.map(({ path, detail }) => `${path.replace('rules.0.conditions.0.', '')}: ${detail}`);
}

const STATES = 'one of "open", "closed", "on hold"';
const ROLES = 'one of "anon", "user", "admin", "moderator", "viewer", "editor"';
const ACTIONS = 'one of "create", "read", "update", "delete", "list", "export", "import"';

/** A condition that can never hold (or always does), and the expected message. */
const NEVER: readonly (readonly [JsonObject, string, resource?: string])[] = [
  [is('resource.state', 'eq', 'Open'), `"Open" is no value of resource.state: expected ${STATES} (did you mean "open"?)`],
  [is('resource.state', 'ne', 'Closed'), `"Closed" is no value of resource.state: expected ${STATES} (did you mean "closed"?)`],
  [
    is('resource.state', 'in', ['open', 'cosed']),
    `item 1: "cosed" is no value of resource.state: expected ${STATES} (did you mean "closed"?)`,
  ],
  [is('resource.state', 'nin', ['void', 'open']), `item 0: "void" is no value of resource.state: expected ${STATES}`],
  [
    is('resource.state', 'in', ['${user.state}', 'Open']),
    `item 1: "Open" is no value of resource.state: expected ${STATES} (did you mean "open"?)`,
  ],
  [is('resource.state', 'gt', 'm'), `"m" is no value of resource.state: expected ${STATES}`],
  [is('resource.state', 'between', ['a', 'open']), `item 0: "a" is no value of resource.state: expected ${STATES}`],
  [is('resource.state', 'startsWith', 'Op'), `no value of resource.state starts with "Op": expected text that fits ${STATES}`],
  [is('resource.state', 'ncontains', 'x'), `no value of resource.state contains "x": expected text that fits ${STATES}`],
  [is('resource.state', 'matches', '^O'), `no value of resource.state matches "^O": expected text that fits ${STATES}`],
  [is('resource.state', 'like', 'hold*'), `no value of resource.state matches "hold*": expected text that fits ${STATES}`],
  [is('resource.labels', 'has', 'Bug'), '"Bug" is no value of resource.labels: expected one of "bug", "feature" (did you mean "bug"?)'],
  [is('resource.labels', 'hasAny', ['bug', 'x']), 'item 1: "x" is no value of resource.labels: expected one of "bug", "feature"'],
  [
    is('resource.labels', 'subsetOf', ['bugs']),
    'item 0: "bugs" is no value of resource.labels: expected one of "bug", "feature" (did you mean "bug"?)',
  ],
  [is('user.role', 'eq', 'editr'), `"editr" is no value of user.role: expected ${ROLES} (did you mean "editor"?)`],
  [is('user.role', 'in', ['admin', 'Editor']), `item 1: "Editor" is no value of user.role: expected ${ROLES} (did you mean "editor"?)`],
  [
    is('resource.authorId.role', 'eq', 'usr'),
    '"usr" is no value of resource.authorId.role: expected one of "anon", "user", "admin" (did you mean "user"?)',
  ],
  [
    is('user.managerId.department', 'eq', 'Sales'),
    '"Sales" is no value of user.managerId.department: expected one of "sales" (did you mean "sales"?)',
  ],
  [is('request.action', 'eq', 'lst'), `"lst" is no value of request.action: expected ${ACTIONS} (did you mean "list"?)`],
  [
    is('request.method', 'eq', 'get'),
    '"get" is no value of request.method: expected one of "GET", "POST", "PUT", "DELETE" (did you mean "GET"?)',
  ],
  [is('environment.hour', 'eq', 25), '25 is no value of environment.hour: expected an hour from 0 to 23 (did you mean 23?)'],
  [is('environment.hour', 'eq', '9'), '"9" is no value of environment.hour: expected an hour from 0 to 23 (did you mean 9?)'],
  [is('environment.hour', 'gte', 24), '24 is no value of environment.hour: expected an hour from 0 to 23 (did you mean 23?)'],
  [is('environment.hour', 'in', [9, 9.5]), 'item 1: 9.5 is no value of environment.hour: expected an hour from 0 to 23 (did you mean 10?)'],
  [is('environment.minute', 'eq', 60), '60 is no value of environment.minute: expected a minute from 0 to 59 (did you mean 59?)'],
  [
    is('environment.dayOfWeek', 'eq', 0),
    '0 is no value of environment.dayOfWeek: expected a day of the week from 1 to 7 (did you mean 7?)',
  ],
  [
    is('environment.dayOfWeek', 'in', ['Sat', 7]),
    'item 0: "Sat" is no value of environment.dayOfWeek: expected a day of the week from 1 to 7 (did you mean 6?)',
  ],
  [
    is('environment.timestamp', 'dayOfWeekIn', ['sunday']),
    'item 0: expected a day from 1 (Monday) to 7 (Sunday), given "sunday" (did you mean 7?)',
  ],
  [
    is('environment.hour', 'between', [22, 6]),
    'nothing lies between 22 and 6: expected the lower bound of environment.hour first; for hours over midnight use "timeOfDayBetween" on environment.timestamp with ["22:00", "07:00"]',
  ],
  [
    is('environment.dayOfWeek', 'between', [6, 1]),
    'nothing lies between 6 and 1: expected the lower bound of environment.dayOfWeek first; for days over the end of the week use "in" with [6, 7, 1]',
  ],
  [is('resource.amount', 'between', [10, 5]), 'nothing lies between 10 and 5: expected the lower bound of resource.amount first'],
  [
    is('resource.price', 'between', ['9.90', '9.5']),
    'nothing lies between "9.90" and "9.5": expected the lower bound of resource.price first',
  ],
  [
    is('resource.due', 'between', ['2026-02-01', '2026-01-01']),
    'nothing lies between "2026-02-01" and "2026-01-01": expected the lower bound of resource.due first',
  ],
  [is('request.data.level', 'between', [3, 1]), 'nothing lies between 3 and 1: expected the lower bound of request.data.level first'],
  [
    is('resource.state', 'eq', 'Todo'),
    '"Todo" is no value of resource.state: expected one of "open", "closed", "on hold", "todo" (did you mean "todo"?)',
    '*',
  ],
  [says('resource.state == "Open"'), `resource.state: "Open" is no value of resource.state: expected ${STATES} (did you mean "open"?)`],
  [says('user.role == "editr"'), `user.role: "editr" is no value of user.role: expected ${ROLES} (did you mean "editor"?)`],
  [says('"lst" == request.action'), `request.action: "lst" is no value of request.action: expected ${ACTIONS} (did you mean "list"?)`],
  [
    says('resource.state in ["open", "Closed"]'),
    `resource.state: item 1: "Closed" is no value of resource.state: expected ${STATES} (did you mean "closed"?)`,
  ],
  [
    says('"Bug" in resource.labels'),
    'resource.labels: "Bug" is no value of resource.labels: expected one of "bug", "feature" (did you mean "bug"?)',
  ],
  [
    says('resource.state.startsWith("Op")'),
    `resource.state: no value of resource.state starts with "Op": expected text that fits ${STATES}`,
  ],
  [
    says('environment.hour == 25'),
    'environment.hour: 25 is no value of environment.hour: expected an hour from 0 to 23 (did you mean 23?)',
  ],
  [
    says('user.name == "x" ? resource.state == "Open" : true'),
    `resource.state: "Open" is no value of resource.state: expected ${STATES} (did you mean "open"?)`,
  ],
  [
    says('["a", "b"].exists(name, name == resource.title && user.role == "editr")'),
    `user.role: "editr" is no value of user.role: expected ${ROLES} (did you mean "editor"?)`,
  ],
];

/** Conditions that some values match and others do not, or whose literals cannot be checked. */
const POSSIBLE: readonly (readonly [JsonObject, resource?: string])[] = [
  [is('resource.state', 'eq', 'open')],
  [is('resource.state', 'eq', null)],
  [is('resource.state', 'in', [])],
  [is('resource.state', 'eq', '${user.state}')],
  [is('resource.state', 'contains', 'o')],
  [is('resource.state', 'ncontains', 'hold')],
  [is('resource.state', 'isNull', true)],
  [is('resource.labels', 'hasAll', ['bug', 'feature'])],
  [is('resource.labels', 'empty', true)],
  [is('resource.title', 'eq', 'Open')],
  [is('resource.title', 'eq', 'anything'), '*'],
  [is('resource.extra.state', 'eq', 'Open')],
  [is('resource.state', 'eq', 'Open'), 'NotYetDefined'],
  [is('user.role', 'eq', 'moderator')],
  [is('user.roles', 'eq', 'editr')],
  // A token of another issuer may contain it.
  [is('user.department', 'eq', 'Sales')],
  [is('environment.hour', 'lt', 24)],
  [is('environment.hour', 'between', [9, 9])],
  [is('environment.timestamp', 'timeOfDayBetween', ['22:00', '06:00'])],
  [is('resource.amount', 'between', ['${user.low}', 5])],
  [is('request.data.state', 'eq', 'Open')],
  [says('resource.state == "open" && environment.hour < 24')],
  [says('user.name == "x" ? resource.state == "open" : size(resource.state) > 4')],
  [says('["Open"].exists(state, state == resource.title)')],
];

describe('a literal that its path can never equal', () => {
  it.each(NEVER.map(([condition, detail, resource = 'Ticket']) => [condition, detail, resource] as const))(
    'refuses the literal in %j: %s',
    (condition, detail, resource) => {
      expect(issuesOf(condition, resource)).toEqual([expect.stringMatching(/^(value|expression): /)]);
      expect(issuesOf(condition, resource)[0]).toContain(`: ${detail}`);
    },
  );

  it.each(POSSIBLE.map(([condition, resource = 'Ticket']) => [condition, resource] as const))(
    'accepts the literal in %j',
    (condition, resource) => {
      expect(issuesOf(condition, resource)).toEqual([]);
    },
  );

  it('refuses a literal of a secret enum without its values', () => {
    expect(issuesOf(is('resource.pin', 'eq', 'three')).join()).toMatch(/is secret/);
    expect(issuesOf(is('resource.pin', 'eq', 'three')).join()).not.toMatch(/two/);
  });

  it('accepts the literal in a stored rule: a DENY that was false stays false and does not become unknown', () => {
    const conditions = [is('resource.state', 'eq', 'Open'), is('environment.hour', 'between', [22, 6])];
    for (const condition of conditions) {
      const policy = policyOf('p', [{ resource: 'Ticket', effect: 'DENY', conditions: [condition] }]);
      const [rule] = policy.rules;
      const compiled = compileRule(policy, rule as NonNullable<typeof rule>, { definitions: DEFINITIONS, limits: LIMITS });
      const ticket = DEFINITIONS.get('Ticket');
      const scope = scopeOf({ resource: ticket as NonNullable<typeof ticket>, record: { state: 'open' }, definitions: DEFINITIONS });
      expect(evaluate(compiled.condition, scope)).toBe(false);
    }
  });
});

describe('a rule returned unchanged', () => {
  const conditions = [is('resource.state', 'eq', 'archived')];
  const stale = { resource: 'Ticket', action: '*', conditions };
  const existing = policyOf('p', [{ ...stale, id: 'r' }]);
  const change = (...rules: JsonObject[]) =>
    parsePolicy({ rules }, { definitions: DEFINITIONS, limits: LIMITS, existing }).issues.map(({ path }) => path);

  it('a rule that is returned unchanged keeps a literal that was removed from the enum', () => {
    expect(change({ ...stale, id: 'r', description: 'other' }, { resource: 'Task', action: 'read' })).toEqual([]);
    expect(parsePolicy({ type: 'ROLE_BASED' }, { definitions: DEFINITIONS, limits: LIMITS, existing }).issues).toEqual([]);
  });

  it('a returned rule is validated like a new rule if its conditions or its resource change, or its id is missing', () => {
    const other = [...conditions, is('resource.amount', 'gt', 1)];
    expect(change({ ...stale, id: 'r', conditions: other })).toEqual(['rules.0.conditions.0.value']);
    expect(change({ ...stale, id: 'r', resource: 'Task' })).toEqual(['rules.0.conditions.0.value']);
    expect(change(stale)).toEqual(['rules.0.conditions.0.value']);
  });
});
