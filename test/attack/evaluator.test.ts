/** Conditions with missing, malformed or overflowing operands: they must not fire an ALLOW, and they must fire a DENY. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttackTarget, checkAttacks, startAttackTarget, underRules } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

type Condition = Readonly<Record<string, unknown>>;

/** Conditions that are unknown for Eve and a record without an amount, owner, tags or price. */
const UNKNOWN: readonly (readonly [string, Condition])[] = [
  ['a missing number is less', { field: 'resource.amount', operator: 'lt', value: 10 }],
  ['a missing number is greater', { field: 'resource.amount', operator: 'gt', value: -10 }],
  ['a missing value differs', { field: 'resource.ownerId', operator: 'ne', value: 'x' }],
  ['a missing value is not in a list', { field: 'resource.ownerId', operator: 'nin', value: ['x'] }],
  ['a missing text does not contain a text', { field: 'resource.ownerId', operator: 'ncontains', value: 'x' }],
  ['a missing list has an item', { field: 'resource.tags', operator: 'has', value: 'x' }],
  ['a missing list is a subset', { field: 'resource.tags', operator: 'subsetOf', value: ['x'] }],
  ['a missing value is empty', { field: 'resource.ownerId', operator: 'empty', value: true }],
  ['a missing value is in an empty list', { field: 'resource.ownerId', operator: 'in', value: [] }],
  ['a missing attribute', { field: 'user.department', operator: 'eq', value: 'claims' }],
  ['a missing attribute differs', { field: 'user.department', operator: 'ne', value: 'claims' }],
  ['an attribute that no user has', { field: 'user.clearance', operator: 'gte', value: 3 }],
  ['an attribute of a missing attribute', { field: 'user.manager.department', operator: 'eq', value: 'claims' }],
  ['a reference to a missing value', { field: 'user.id', operator: 'eq', value: `\${resource.ownerId}` }],
  ['a negated reference to a missing value', { field: 'user.id', operator: 'ne', value: `\${resource.ownerId}` }],
  ['a text with a missing value', { field: 'user.email', operator: 'ne', value: `so \${resource.ownerId}` }],
  ['a list with a missing value', { field: 'user.id', operator: 'nin', value: ['x', `\${resource.ownerId}`] }],
  ['data that was not sent', { field: 'request.data.reason', operator: 'ne', value: 'none' }],
  ['not of an unknown condition', { not: { field: 'resource.amount', operator: 'eq', value: 5 } }],
  [
    'all with one unknown',
    {
      allOf: [
        { field: 'user.role', operator: 'eq', value: 'editor' },
        { field: 'resource.amount', operator: 'eq', value: 5 },
      ],
    },
  ],
  [
    'any with one unknown and none true',
    {
      anyOf: [
        { field: 'user.role', operator: 'eq', value: 'viewer' },
        { field: 'resource.amount', operator: 'eq', value: 5 },
      ],
    },
  ],
  ['an expression on a missing value', { expression: 'resource.amount < 10' }],
  ['an expression that divides by zero', { expression: '1 / (size(user.id) - size(user.id)) == 1' }],
  ['an expression that orders text and a number', { expression: '[user.id].exists(id, id < 5)' }],
  ['an expression that compares text with a number', { expression: '[user.id].all(id, id != 5)' }],
  ['an expression that looks for a number in a list of text', { expression: '!(5 in [user.id])' }],
  ['an expression on an attribute that no user has', { expression: 'user.clearance != "10"' }],
];

const TRUE: readonly (readonly [string, Condition])[] = [
  [
    'a group',
    {
      anyOf: [
        { field: 'user.role', operator: 'eq', value: 'editor' },
        { field: 'resource.amount', operator: 'eq', value: 5 },
      ],
    },
  ],
  ['a missing value does not exist', { field: 'resource.amount', operator: 'exists', value: false }],
  ['a missing value is null', { field: 'resource.amount', operator: 'isNull', value: true }],
  ['a value is not in an empty list', { field: 'user.id', operator: 'nin', value: [] }],
  ['not of a false condition', { not: { field: 'user.role', operator: 'eq', value: 'viewer' } }],
];

const FALSE: readonly (readonly [string, Condition])[] = [
  ['ifExists on a missing value', { field: 'resource.amount', operator: 'lt', value: 10, ifExists: true }],
  ['a value is in an empty list', { field: 'user.id', operator: 'in', value: [] }],
  [
    'all with one false, one unknown',
    {
      allOf: [
        { field: 'user.role', operator: 'eq', value: 'viewer' },
        { field: 'resource.amount', operator: 'eq', value: 5 },
      ],
    },
  ],
  ['a missing value exists', { field: 'resource.amount', operator: 'exists', value: true }],
];

describe.each([
  ['unknown', UNKNOWN, false, true],
  ['true', TRUE, true, true],
  ['false', FALSE, false, false],
] as const)('a condition that is %s', (what, conditions, allows, denies) => {
  it.each(conditions)(`a condition that is ${what} ${allows ? 'fires' : 'does not fire'} an ALLOW: %s`, async (_name, condition) => {
    const outcome = await decideOn([{ resource: 'Case', action: '*', conditions: [condition] }]);
    expect(outcome).toEqual({ read: allows, listed: allows });
  });

  it.each(conditions)(`a condition that is ${what} ${denies ? 'fires' : 'does not fire'} a DENY: %s`, async (_name, condition) => {
    const outcome = await decideOn([
      { resource: 'Case', action: '*' },
      { resource: 'Case', action: '*', effect: 'DENY', conditions: [condition] },
    ]);
    expect(outcome).toEqual({ read: !denies, listed: !denies });
  });
});

/** Returns whether Eve reads Alice's case under these rules, by a single read and by a list. */
async function decideOn(rules: readonly Condition[]): Promise<{ readonly read: boolean; readonly listed: boolean }> {
  return underRules(target, rules, async () => {
    const read = await target.as('eve', 'GET', `/api/Case/${target.cases.alice}`);
    const list = await target.as('eve', 'GET', `/api/Case?where[id]=${target.cases.alice}`);
    expect([200, 403]).toContain(read.status);
    expect([200, 403]).toContain(list.status);
    return { read: read.status === 200, listed: list.at('count') === 1 };
  });
}

describe('a list under a condition that SQL cannot express', () => {
  it.each<[string, Condition]>([
    ['a pattern', { field: 'resource.title', operator: 'matches', value: "^Bob'?s" }],
    ['an expression', { expression: 'size(resource.title) == 10 && resource.title.startsWith("Bob")' }],
    ['a condition on JSON', { field: 'resource.extra', operator: 'exists', value: false }],
    ['a negated pattern', { not: { field: 'resource.title', operator: 'matches', value: '^Alice' } }],
  ])('a list applies a condition that SQL cannot express: %s', async (_name, condition) => {
    await underRules(target, [{ resource: 'Case', action: '*', conditions: [condition] }], async () => {
      const readable: string[] = [];
      for (const id of Object.values(target.cases))
        if ((await target.as('eve', 'GET', `/api/Case/${id}`)).status === 200) readable.push(id);
      const listed = (await target.as('eve', 'GET', '/api/Case')).at('data') as readonly { id: string }[];
      expect(listed.map(({ id }) => id).toSorted()).toEqual(readable.toSorted());
      expect(readable).toContain(target.cases.bob);
    });
  });
});

const broken = (condition: unknown, type = 'CUSTOM'): Condition => ({
  name: 'broken',
  type,
  rules: [{ resource: 'Case', action: 'read', conditions: [condition] }],
});
const nested = (depth: number): string => `${'{"not":'.repeat(depth)}{"field":"user.id","operator":"eq","value":1}${'}'.repeat(depth)}`;

describe('a policy that cannot be decided', () => {
  checkAttacks(
    () => target,
    (
      [
        ['an unknown operator', broken({ field: 'user.id', operator: 'equals', value: 1 })],
        ['no operator', broken({ field: 'user.id', value: 1 })],
        ['an unknown field', broken({ field: 'resource.titel', operator: 'eq', value: 'x' })],
        ['an unknown group', broken({ field: 'session.id', operator: 'eq', value: 'x' })],
        ['a field without a group', broken({ field: 'id', operator: 'eq', value: 'x' })],
        ['two groups', broken({ field: 'user.id', context: 'resource', operator: 'eq', value: 'x' })],
        ['an invalid network', broken({ field: 'request.ip', operator: 'cidr', value: '10.0.0.0/33' })],
        ['an invalid pattern', broken({ field: 'user.email', operator: 'matches', value: '(' })],
        ['a pattern with a lookbehind', broken({ field: 'user.email', operator: 'matches', value: '(?<=a)b' })],
        ['a number for text', broken({ field: 'resource.title', operator: 'eq', value: 5 })],
        ['text for a number', broken({ field: 'resource.amount', operator: 'gt', value: '5' })],
        ['a list operator on text', broken({ field: 'resource.title', operator: 'hasAny', value: ['x'] })],
        ['an unterminated reference', broken({ field: 'user.id', operator: 'eq', value: `\${resource.ownerId` })],
        ['a reference to an unknown field', broken({ field: 'user.id', operator: 'eq', value: `\${resource.nosuch}` })],
        ['an expression in an ATTRIBUTE_BASED policy', broken({ expression: 'true' }, 'ATTRIBUTE_BASED')],
        ['an invalid expression', broken({ expression: 'user.id ==' })],
        ['an expression with an unknown function', broken({ expression: 'system("id") == ""' })],
        ['an expression that compares text with a number', broken({ expression: 'user.id == 5' })],
        ['an expression with an unknown variable', broken({ expression: 'process.env == ""' })],
        ['an expression within expressions', broken({ expression: '[1,2].all(a, [1,2].all(b, [1,2].all(c, true)))' })],
        ['an expression that is too long', broken({ expression: `user.id == "${'x'.repeat(5000)}"` })],
        ['an expression that is too deep', broken({ expression: `${'('.repeat(300)}true${')'.repeat(300)}` })],
        ['a condition that is text', broken('user.id eq 1')],
        ['a condition that is null', broken(null)],
        [
          'conditions that are too deep',
          JSON.parse(
            `{"name":"deep","type":"CUSTOM","rules":[{"resource":"Case","action":"read","conditions":[${nested(40)}]}]}`,
          ) as Condition,
        ],
        ['too many values', broken({ field: 'user.id', operator: 'in', value: Array.from({ length: 10_001 }, (_, index) => `u${index}`) })],
        ['too many comparisons', broken({ anyOf: Array.from({ length: 300 }, () => ({ field: 'user.id', operator: 'eq', value: 'x' })) })],
        ['a priority that is not a number', { name: 'p', type: 'CUSTOM', priority: '9', rules: [{ resource: '*', action: '*' }] }],
        ['a priority above the maximum', { name: 'p', type: 'CUSTOM', priority: 1e300, rules: [{ resource: '*', action: '*' }] }],
        ['an effect in another case', { name: 'p', type: 'CUSTOM', rules: [{ resource: '*', action: '*', effect: 'deny' }] }],
        ['an unknown action', { name: 'p', type: 'CUSTOM', rules: [{ resource: '*', action: 'write' }] }],
      ] as const
    ).map(([name, body]) => ({
      name,
      as: 'admin',
      send: 'POST /admin/api/policies',
      body,
      answers: 422,
      also: (reply) => expect((reply.at('errors') as unknown[]).length).toBeGreaterThan(0),
    })),
    'refuses a policy with ',
  );

  it('refuses a policy with one error for each of its six mistakes', async () => {
    const body = {
      name: '',
      type: 'CUSTOMS',
      priority: 'high',
      rules: [{ resource: 'Case', action: 'reed', effect: 'ALOW', conditions: [{ field: 'resource.titel', operator: 'eq', value: 'x' }] }],
    };
    const reply = await target.as('admin', 'POST', '/admin/api/policies', { body });
    expect((reply.at('errors') as readonly { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      'name',
      'priority',
      'rules.0.action',
      'rules.0.conditions.0.field',
      'rules.0.effect',
      'type',
    ]);
  });
});

it('an inactive policy, rule or assignment and an expired assignment allow nothing', async () => {
  const user = await target.user();
  const read = async (): Promise<number> => (await target.call('GET', `/api/Case/${target.cases.alice}`, { token: user.token })).status;
  const id = await target.createPolicy({ userId: user.id, rules: [{ resource: 'Case', action: 'read' }] });
  const change = async (path: string, body: object): Promise<number> => {
    expect((await target.as('admin', 'PUT', path, { body })).status).toBe(200);
    return read();
  };
  const policy = `/admin/api/policies/${id}`;
  const assignment = `${policy}/assign/user/${user.id}`;
  expect(await read()).toBe(200);
  expect(await change(policy, { isActive: false })).toBe(403);
  expect(await change(policy, { isActive: true })).toBe(200);
  expect(await change(policy, { rules: [{ resource: 'Case', action: 'read', isActive: false }] })).toBe(403);
  expect(await change(policy, { rules: [{ resource: 'Case', action: 'read' }] })).toBe(200);
  expect(await change(assignment, { isActive: false })).toBe(403);
  expect(await change(assignment, { isActive: true })).toBe(200);
  expect(await change(assignment, { expiresAt: new Date(Date.now() - 1000).toISOString() })).toBe(403);
  expect(await change(assignment, { expiresAt: new Date(Date.now() + 60_000).toISOString() })).toBe(200);
});
