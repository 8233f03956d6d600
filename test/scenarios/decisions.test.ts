/** Access decisions: the policies that apply, the order of their rules, and when a rule fires. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestPolicy } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

const NOTE = `
name: Note
fields:
  title:   { type: string }
  ownerId: { type: reference, to: User }
  level:   { type: integer }
  tags:    { type: list, of: string }
  dueAt:   { type: timestamp }
  secret:  { type: string, writeOnly: true }
`;
const USER = `
name: User
fields:
  department: { type: string }
  level:      { type: integer }
`;

let stage: ScenarioContext;
beforeAll(async () => {
  const service = await startService({
    definitions: { 'Note.yaml': NOTE, 'User.yaml': USER },
    settings: { timezone: 'Pacific/Auckland' },
  });
  const admin = await service.admin();
  const user = await service.user({ department: 'politics', level: 10 });
  const note = await service.createRecord('Note', { title: 'politics 10', ownerId: user.id, level: 10, tags: ['politics'], secret: 'x' });
  stage = {
    service,
    tokens: new Map([
      ['admin', admin.token],
      ['user', user.token],
    ]),
    kept: new Map([
      ['admin', admin.id],
      ['user', user.id],
      ['note', note],
    ]),
  };
});
afterAll(() => stage.service.close());

const allow = (more: object = {}): object => ({ resource: 'Note', action: 'read', description: 'allow', ...more });
const deny = (more: object = {}): object => ({ resource: 'Note', action: 'read', effect: 'DENY', description: 'deny', ...more });
const when = (...conditions: object[]): object => ({ conditions });
const is = (field: string, operator: string, value: unknown, more: object = {}): object => ({ field, operator, value, ...more });

/** A policy given by its rules. By default it is assigned to role `user`. */
type Given = Partial<TestPolicy> & { readonly rules: readonly object[]; readonly assignment?: object };

const allowedBy = (rule: string, policy = 'one'): string => `allowed by rule "${rule}" of policy "${policy}"`;
const deniedBy = (rule: string, policy = 'one'): string => `denied by rule "${rule}" of policy "${policy}"`;
const NO_RULE = 'no rule matched';

/** Policies, and the reason of the decision when a user reads a note. The policies are named one, two, three. */
const CASES: readonly (readonly [name: string, policies: readonly Given[], reason: string])[] = [
  ['is denied without policies', [], 'no policies found for user {user} or role user'],
  ['is denied by a policy of another role alone', [{ rules: [allow()], role: 'editor' }], 'no policies found for user {user} or role user'],
  [
    'is denied by a policy of another user alone',
    [{ rules: [allow()], userId: '{admin}' }],
    'no policies found for user {user} or role user',
  ],
  ['is denied by an inactive policy', [{ rules: [allow()], isActive: false } as Given], 'no policies found for user {user} or role user'],
  ['is allowed by a policy of the role', [{ rules: [allow()] }], allowedBy('allow')],
  ['is allowed by a policy of the user', [{ rules: [allow()], userId: '{user}' }], allowedBy('allow')],
  ['is denied by a rule of another action alone', [{ rules: [allow({ action: 'list' })] }], NO_RULE],
  ['is denied by a rule of another resource alone', [{ rules: [allow({ resource: 'User' })] }], NO_RULE],
  ['is denied by an inactive rule', [{ rules: [allow({ isActive: false })] }], NO_RULE],
  ['is allowed by a rule with * for the resource', [{ rules: [allow({ resource: '*' })] }], allowedBy('allow')],
  ['is allowed by a rule with * for the action', [{ rules: [allow({ action: '*' })] }], allowedBy('allow')],
  ['is allowed by a rule with * for both', [{ rules: [allow({ resource: '*', action: '*' })] }], allowedBy('allow')],

  ['is denied by a DENY before an ALLOW of equal priority', [{ rules: [allow(), deny()] }], deniedBy('deny')],
  ['is denied by a DENY before an ALLOW of lower priority', [{ rules: [allow(), deny({ priority: 900 })] }], deniedBy('deny')],
  ['is allowed by an ALLOW before a DENY of lower priority', [{ rules: [allow({ priority: 900 }), deny()] }], allowedBy('allow')],
  ['is denied by a DENY of another policy', [{ rules: [allow()] }, { rules: [deny()] }], deniedBy('deny', 'two')],
  [
    'is allowed by the rule of higher priority even in a policy of lower priority',
    [{ rules: [allow({ priority: 200 })] }, { priority: 900, rules: [deny()] }],
    allowedBy('allow'),
  ],
  [
    'is decided by policy priority at equal rule priority',
    [{ rules: [deny()] }, { priority: 200, rules: [allow()] }],
    allowedBy('allow', 'two'),
  ],
  [
    'is decided by assignment priority at equal policy priority',
    [{ rules: [deny()] }, { rules: [allow()], assignment: { priority: 101 } }],
    allowedBy('allow', 'two'),
  ],
  [
    "is decided with priority 100 for a user's assignment",
    [
      { rules: [deny()], userId: '{user}' },
      { rules: [allow()], assignment: { priority: 101 } },
    ],
    allowedBy('allow', 'two'),
  ],
  [
    'is decided by the oldest rule at equal priorities',
    [{ rules: [allow({ description: 'a' }), allow({ description: 'b' })] }],
    allowedBy('a'),
  ],
  [
    'is decided by the first rule that fires',
    [{ rules: [deny({ priority: 900, ...when(is('user.level', 'gt', 10)) }), allow()] }],
    allowedBy('allow'),
  ],

  [
    'is allowed if all conditions hold',
    [{ rules: [allow(when(is('user.level', 'eq', 10), is('resource.level', 'gte', 10)))] }],
    allowedBy('allow'),
  ],
  [
    'is denied if one condition does not hold',
    [{ rules: [allow(when(is('user.level', 'eq', 10), is('resource.level', 'gt', 10)))] }],
    NO_RULE,
  ],
  [
    'is decided on an attribute with its group in `context`',
    [{ rules: [allow(when(is('department', 'eq', 'politics', { context: 'user' })))] }],
    allowedBy('allow'),
  ],
  [
    'is decided on an attribute with its group in `context` and `field`',
    [{ rules: [allow(when(is('user.department', 'eq', 'politics', { context: 'user' })))] }],
    allowedBy('allow'),
  ],

  [
    'is denied if the value of an ALLOW condition is missing',
    [{ rules: [allow(when(is('resource.dueAt', 'after', '2026-01-01T00:00:00Z')))] }],
    NO_RULE,
  ],
  ['is denied if the value of an ne condition is missing', [{ rules: [allow(when(is('user.nothing', 'ne', 'x')))] }], NO_RULE],
  ['is denied if the value of a nin condition is missing', [{ rules: [allow(when(is('user.nothing', 'nin', ['x'])))] }], NO_RULE],
  ['is denied if not negates an unknown condition', [{ rules: [allow(when({ not: is('user.nothing', 'eq', 'x') }))] }], NO_RULE],
  [
    'is denied if the value of a DENY condition is missing',
    [{ rules: [allow(), deny(when(is('user.nothing', 'eq', 'x')))] }],
    deniedBy('deny'),
  ],
  [
    'is allowed if the value of a DENY condition with ifExists is missing',
    [{ rules: [allow(), deny(when(is('user.nothing', 'eq', 'x', { ifExists: true })))] }],
    allowedBy('allow'),
  ],
  [
    'is allowed if a DENY has a false and an unknown condition',
    [{ rules: [allow(), deny(when(is('user.nothing', 'eq', 'x'), is('user.level', 'eq', 11)))] }],
    allowedBy('allow'),
  ],
  [
    'is allowed if exists is false for a missing value',
    [{ rules: [allow(when(is('user.nothing', 'exists', false)))] }],
    allowedBy('allow'),
  ],
  [
    'is allowed if isNull is true for a missing value',
    [{ rules: [allow(when(is('resource.dueAt', 'isNull', true)))] }],
    allowedBy('allow'),
  ],
  ['is denied if a reference is not resolved', [{ rules: [allow(when(is('user.department', 'ne', '${user.nothing}')))] }], NO_RULE],
  [
    'is denied if a reference in text is not resolved',
    [{ rules: [allow(when(is('resource.title', 'ne', 'a ${user.nothing}')))] }],
    NO_RULE,
  ],

  [
    'is allowed by a reference that keeps its type',
    [{ rules: [allow(when(is('resource.level', 'eq', '${user.level}')))] }],
    allowedBy('allow'),
  ],
  ['is allowed by a reference on either side', [{ rules: [allow(when(is('user.id', 'eq', '${resource.ownerId}')))] }], allowedBy('allow')],
  [
    'is allowed by references in text',
    [{ rules: [allow(when(is('resource.title', 'eq', '${user.department} ${user.level}')))] }],
    allowedBy('allow'),
  ],
  ['is allowed by references in a list', [{ rules: [allow(when(is('user.id', 'in', ['x', '${resource.ownerId}'])))] }], allowedBy('allow')],
  ['is allowed by a reference to a list', [{ rules: [allow(when(is('user.department', 'in', '${resource.tags}')))] }], allowedBy('allow')],

  [
    'is allowed if one condition of anyOf holds',
    [{ rules: [allow(when({ anyOf: [is('user.level', 'eq', 11), is('user.level', 'eq', 10)] }))] }],
    allowedBy('allow'),
  ],
  [
    'is denied if no condition of anyOf holds',
    [{ rules: [allow(when({ anyOf: [is('user.level', 'eq', 11), is('user.level', 'eq', 12)] }))] }],
    NO_RULE,
  ],
  [
    'is allowed if one condition of anyOf holds and another is unknown',
    [{ rules: [allow(when({ anyOf: [is('user.no', 'eq', 1), is('user.level', 'eq', 10)] }))] }],
    allowedBy('allow'),
  ],
  [
    'is allowed by allOf in anyOf',
    [{ rules: [allow(when({ anyOf: [{ allOf: [is('user.level', 'eq', 10), is('user.role', 'eq', 'user')] }] }))] }],
    allowedBy('allow'),
  ],
  ['is allowed if not negates a false condition', [{ rules: [allow(when({ not: is('user.level', 'eq', 11) }))] }], allowedBy('allow')],
  [
    'is allowed by an expression that is true',
    [{ type: 'CUSTOM', rules: [allow(when({ expression: 'user.level == 10 && resource.title.startsWith("pol")' }))] }],
    allowedBy('allow'),
  ],
  [
    'is denied by an ALLOW with an expression that is false',
    [{ type: 'CUSTOM', rules: [allow(when({ expression: 'user.level > 10' }))] }],
    NO_RULE,
  ],
  [
    'is denied by a DENY with an expression over a missing value',
    [{ type: 'CUSTOM', rules: [allow(), deny(when({ expression: 'user.nothing == 1' }))] }],
    deniedBy('deny'),
  ],

  [
    'is decided on resource.name and resource.id',
    [{ rules: [allow(when(is('resource.name', 'eq', 'Note'), is('resource.id', 'eq', '{note}')))] }],
    allowedBy('allow'),
  ],
  [
    'is decided on createdBy and createdAt of the record',
    [{ rules: [allow(when(is('resource.createdBy', 'eq', '{admin}'), is('resource.createdAt', 'withinLast', '1h')))] }],
    allowedBy('allow'),
  ],
  [
    'is decided on the method and path of the request',
    [{ rules: [allow(when(is('request.method', 'eq', 'GET'), is('request.path', 'eq', '/api/Note/{note}')))] }],
    allowedBy('allow'),
  ],
  [
    'is decided on the IP address of the caller',
    [{ rules: [allow(when(is('environment.ip', 'cidr', ['127.0.0.0/8', '::1/128'])))] }],
    allowedBy('allow'),
  ],
  ['is decided on the current time', [{ rules: [allow(when(is('environment.timestamp', 'withinLast', '1m')))] }], allowedBy('allow')],
];

describe('a read of a note', () => {
  it.each(CASES)('a read %s', async (_, policies, reason) => {
    const { service, tokens } = stage;
    const ids: string[] = [];
    for (const [index, given] of policies.entries()) ids.push(await createPolicy(['one', 'two', 'three'][index] ?? '', given));
    try {
      const reply = await service.call('GET', fill('/api/Note/{note}'), { token: tokens.get('user') });
      const isAllowed = reason.startsWith('allowed');
      expect(reply.status, reply.text).toBe(isAllowed ? 200 : 403);
      if (!isAllowed) expect(reply.at('detail')).toBe(fill(reason));
      const [entry, ...others] = await service.decisions(fill('userId={user}&resource=Note&limit=2'));
      expect(entry).toMatchObject({
        id: reply.headers['x-decision-id'],
        allowed: isAllowed,
        reason: fill(reason),
        recordId: fill('{note}'),
      });
      expect(others.map(({ id }) => id)).not.toContain(entry?.['id']);
    } finally {
      for (const id of ids) await service.call('DELETE', `/admin/api/policies/${id}`, { token: tokens.get('admin') });
    }
  });
});

function fill(text: string): string {
  return text.replace(/(?<!\$)\{(\w+)\}/g, (whole, name: string) => stage.kept.get(name) ?? whole);
}

async function createPolicy(name: string, { assignment, ...given }: Given): Promise<string> {
  const { service, tokens } = stage;
  const policy = JSON.parse(fill(JSON.stringify(given))) as TestPolicy;
  if (assignment === undefined) return service.createPolicy({ ...(policy.userId === undefined ? { role: 'user' } : {}), ...policy, name });
  const id = await service.createPolicy({ ...policy, name });
  const reply = await service.call('POST', `/admin/api/policies/${id}/assign/role/user`, { token: tokens.get('admin'), body: assignment });
  expect(reply.status).toBe(201);
  return id;
}

/** Conditions on the environment at 2026-01-31T12:30Z in Auckland, which is 13 hours ahead of UTC in January. */
const ENVIRONMENT: readonly (readonly [field: string, operator: string, value: unknown, allowed: boolean])[] = [
  ['environment.timestamp', 'eq', '2026-01-31T12:30:00Z', true],
  ['environment.hour', 'eq', 1, true],
  ['environment.hour', 'between', [8, 18], false],
  ['environment.minute', 'eq', 30, true],
  ['environment.date', 'eq', '2026-02-01', true],
  ['environment.dayOfWeek', 'eq', 7, true],
  ['environment.timestamp', 'timeOfDayBetween', ['01:00', '02:00'], true],
  ['environment.timestamp', 'dayOfWeekIn', [7], true],
  ['environment.timestamp', 'before', '2026-01-31T12:30:00Z', false],
  ['environment.ip', 'eq', '192.0.2.1', true],
  ['environment.ip', 'cidr', '10.0.0.0/8', false],
  ['environment.ip', 'ncidr', '10.0.0.0/8', true],
];

describe('the environment, in the configured time zone', () => {
  it.each(ENVIRONMENT)('evaluates %s %s %j in the configured time zone as %s', async (field, operator, value, allowed) => {
    const { service, tokens } = stage;
    const token = tokens.get('admin');
    const id = await service.createPolicy({ rules: [allow(when(is(field, operator, value)))] });
    const body = {
      user: { id: 'someone', role: 'viewer' },
      resource: { name: 'Note' },
      action: 'read',
      environment: { timestamp: '2026-01-31T12:30:00Z', ip: '192.0.2.1' },
    };
    const reply = await service.call('POST', `/admin/api/policies/${id}/test`, { token, body });
    expect(reply.at('data.allowed'), reply.text).toBe(allowed);
    await service.call('DELETE', `/admin/api/policies/${id}`, { token });
  });
});

const WRONG: readonly (readonly [name: string, policy: object, path: string, code: string])[] = [
  ['a missing name', { name: undefined }, 'name', 'required'],
  ['a missing type', { type: undefined }, 'type', 'required'],
  ['missing rules', { rules: undefined }, 'rules', 'required'],
  ['rules that are not a list', { rules: {} }, 'rules', 'type'],
  ['an unknown type', { type: 'ROLE' }, 'type', 'enum'],
  ['a priority as text', { priority: '100' }, 'priority', 'type'],
  ['a fractional priority', { priority: 1.5 }, 'priority', 'type'],
  ['isActive as text', { isActive: 'true' }, 'isActive', 'type'],
  ['tags that are not strings', { tags: [1] }, 'tags.0', 'type'],
  ['an id', { id: 'mine' }, 'id', 'readOnly'],
  ['an unknown member', { prority: 5 }, 'prority', 'unknown'],
  ['a rule without a resource', { rules: [{ action: 'read' }] }, 'rules.0.resource', 'required'],
  ['a rule without an action', { rules: [{ resource: 'Note' }] }, 'rules.0.action', 'required'],
  ['an unknown action', { rules: [allow({ action: 'write' })] }, 'rules.0.action', 'enum'],
  ['an unknown effect', { rules: [allow({ effect: 'deny' })] }, 'rules.0.effect', 'enum'],
  ['an invalid resource name', { rules: [allow({ resource: '_Policy' })] }, 'rules.0.resource', 'pattern'],
];

const WRONG_CONDITIONS: readonly (readonly [name: string, condition: unknown, path: string, code: string])[] = [
  ['a string for a condition', 'user.id', '', 'type'],
  ['a missing field', { operator: 'eq', value: 1 }, '.field', 'required'],
  ['a missing operator', { field: 'user.id', value: 'x' }, '.operator', 'required'],
  ['a missing value', { field: 'user.id', operator: 'eq' }, '.value', 'required'],
  ['an unknown operator', is('user.id', 'equals', 'x'), '.operator', 'operator'],
  ['an unknown group', is('usr.id', 'eq', 'x'), '.field', 'field'],
  ['a field without a group', is('department', 'eq', 'x'), '.field', 'field'],
  ['a group that is not the context', is('user.id', 'eq', 'x', { context: 'resource' }), '.field', 'field'],
  ['an unknown context', is('id', 'eq', 'x', { context: 'principal' }), '.context', 'context'],
  ['a field that the resource lacks', is('resource.titel', 'eq', 'x'), '.field', 'field'],
  ['a secret field', is('resource.secret', 'eq', 'x'), '.field', 'field'],
  ['a secret field of the user', is('user.password', 'eq', 'x'), '.field', 'field'],
  ['a secret field on the right', is('user.id', 'eq', '${resource.secret}'), '.value', 'value'],
  ['an unknown attribute of the environment', is('environment.weather', 'eq', 'x'), '.field', 'field'],
  ['an operator that does not fit the field', is('resource.level', 'startsWith', '1'), '.operator', 'operator'],
  ['a value that does not fit the field', is('resource.level', 'eq', '10'), '.value', 'value'],
  ['a reference that does not fit the field', is('resource.level', 'eq', '${user.department}'), '.value', 'value'],
  ['a list for a single value', is('resource.level', 'eq', [10]), '.value', 'value'],
  ['a single value for a list', is('resource.level', 'in', 10), '.value', 'value'],
  ['an unparsable network', is('environment.ip', 'cidr', '10.0.0.0/33'), '.value', 'value'],
  ['an unparsable instant', is('resource.dueAt', 'before', 'tomorrow'), '.value', 'value'],
  ['an unparsable pattern', is('resource.title', 'matches', '('), '.value', 'value'],
  ['an unparsable duration', is('resource.dueAt', 'withinLast', 'a while'), '.value', 'value'],
  ['an unclosed reference', is('user.id', 'eq', '${resource.ownerId'), '.value', 'value'],
  ['an unknown member of a condition', is('user.id', 'eq', 'x', { ifexists: true }), '.ifexists', 'unknown'],
  ['an empty anyOf', { anyOf: [] }, '.anyOf', 'type'],
  ['a mistake in nested conditions', { anyOf: [{ not: is('user.id', 'eqq', 'x') }] }, '.anyOf.0.not.operator', 'operator'],
  ['an expression that does not parse', { expression: 'user.id ==' }, '.expression', 'expression'],
];

describe('a written policy', () => {
  const rejects = (name: string, policy: object, error: object): Scenario => ({
    name: `rejects a policy with ${name}, and reports its path`,
    as: 'admin',
    send: 'POST /admin/api/policies',
    body: { name: 'wrong', type: 'CUSTOM', rules: [allow()], ...policy },
    status: 422,
    body_has: { code: 'POLICY_INVALID', errors: [error] },
  });
  checkScenarios(
    () => stage,
    [
      ...WRONG.map(([name, policy, path, code]) => rejects(name, policy, { path, code })),
      ...WRONG_CONDITIONS.map(([name, condition, path, code]) =>
        rejects(name, { rules: [allow({ conditions: [condition] })] }, { path: `rules.0.conditions.0${path}`, code }),
      ),
      rejects(
        'an expression in a policy that is not CUSTOM',
        { type: 'ATTRIBUTE_BASED', rules: [allow(when({ expression: 'true' }))] },
        { path: 'rules.0.conditions.0.expression', code: 'expression' },
      ),
      {
        name: 'warns about a rule for a resource without a definition',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: { name: 'ahead', type: 'CUSTOM', rules: [allow({ resource: 'Notes' })] },
        status: 201,
        body_has: { warnings: [{ path: 'rules.0.resource' }] },
        entries: [{ kind: 'admin' }],
      },
      {
        name: 'names in the warning the resources that a DENY on * closes because they lack a field',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: { name: 'closing', type: 'CUSTOM', rules: [deny({ resource: '*', ...when(is('resource.ownerId', 'ne', 'x')) })] },
        status: 201,
        body_has: {
          warnings: [
            {
              path: 'rules.0.conditions',
              code: 'closes',
              detail: 'this DENY denies every read of User, because they have no "resource.ownerId"',
              todo: 'set "ifExists": true on the condition, or name the intended resources',
            },
          ],
        },
        entries: [{ kind: 'admin' }],
      },
      {
        name: 'does not warn about a DENY on * whose condition has ifExists',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: {
          name: 'not closing',
          type: 'CUSTOM',
          rules: [deny({ resource: '*', ...when(is('resource.ownerId', 'ne', 'x', { ifExists: true })) })],
        },
        status: 201,
        body_lacks: ['warnings'],
        entries: [{ kind: 'admin' }],
      },
    ],
  );
});
