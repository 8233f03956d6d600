/** Conditions that break, miss or overflow what they are about: an ALLOW must not come of it, and a DENY must. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAttacks, createWorld, underRules, type World } from './target.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

type Condition = Readonly<Record<string, unknown>>;

/** Conditions that are unknown for Eve and a record without an amount, owner, tags or price. */
const UNKNOWN: readonly (readonly [string, Condition])[] = [
  ['a missing number is less', { field: 'resource.amount', operator: 'lt', value: 10 }],
  ['a missing number is more', { field: 'resource.amount', operator: 'gt', value: -10 }],
  ['a missing value is another', { field: 'resource.ownerId', operator: 'ne', value: 'x' }],
  ['a missing value is none of these', { field: 'resource.ownerId', operator: 'nin', value: ['x'] }],
  ['a missing text lacks something', { field: 'resource.ownerId', operator: 'ncontains', value: 'x' }],
  ['a missing list has something', { field: 'resource.tags', operator: 'has', value: 'x' }],
  ['a missing list is part of another', { field: 'resource.tags', operator: 'subsetOf', value: ['x'] }],
  ['a missing value is empty', { field: 'resource.ownerId', operator: 'empty', value: true }],
  ['a missing value is one of none', { field: 'resource.ownerId', operator: 'in', value: [] }],
  ['a missing attribute', { field: 'user.department', operator: 'eq', value: 'claims' }],
  ['a missing attribute is another', { field: 'user.department', operator: 'ne', value: 'claims' }],
  ['an attribute that nobody has', { field: 'user.clearance', operator: 'gte', value: 3 }],
  ['an attribute below none', { field: 'user.manager.department', operator: 'eq', value: 'claims' }],
  ['a reference to what is missing', { field: 'user.id', operator: 'eq', value: `\${resource.ownerId}` }],
  ['a reference to what is missing, negated', { field: 'user.id', operator: 'ne', value: `\${resource.ownerId}` }],
  ['a text with what is missing', { field: 'user.email', operator: 'ne', value: `so \${resource.ownerId}` }],
  ['a list with what is missing', { field: 'user.id', operator: 'nin', value: ['x', `\${resource.ownerId}`] }],
  ['data that was not sent', { field: 'request.data.reason', operator: 'ne', value: 'none' }],
  ['not of unknown', { not: { field: 'resource.amount', operator: 'eq', value: 5 } }],
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
  ['an expression on what is missing', { expression: 'resource.amount < 10' }],
  ['an expression that divides by zero', { expression: '1 / (size(user.id) - size(user.id)) == 1' }],
  ['an expression that orders kinds', { expression: '[user.id].exists(id, id < 5)' }],
  ['an expression that tells kinds apart', { expression: '[user.id].all(id, id != 5)' }],
  ['an expression that finds no item of that kind', { expression: '!(5 in [user.id])' }],
  ['an expression on an attribute that nobody has', { expression: 'user.clearance != "10"' }],
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
  ['missing is missing', { field: 'resource.amount', operator: 'exists', value: false }],
  ['missing is null', { field: 'resource.amount', operator: 'isNull', value: true }],
  ['none of none', { field: 'user.id', operator: 'nin', value: [] }],
  ['not of false', { not: { field: 'user.role', operator: 'eq', value: 'viewer' } }],
];

const FALSE: readonly (readonly [string, Condition])[] = [
  ['ifExists on missing', { field: 'resource.amount', operator: 'lt', value: 10, ifExists: true }],
  ['one of none', { field: 'user.id', operator: 'in', value: [] }],
  [
    'all with one false, one unknown',
    {
      allOf: [
        { field: 'user.role', operator: 'eq', value: 'viewer' },
        { field: 'resource.amount', operator: 'eq', value: 5 },
      ],
    },
  ],
  ['missing exists', { field: 'resource.amount', operator: 'exists', value: true }],
];

describe.each([
  ['unknown', UNKNOWN, false, true],
  ['true', TRUE, true, true],
  ['false', FALSE, false, false],
] as const)('a condition that is %s', (_what, conditions, allows, denies) => {
  it.each(conditions)(`lets an ALLOW fire: ${allows}, %s`, async (_name, condition) => {
    const outcome = await decideOn([{ resource: 'Case', action: '*', conditions: [condition] }]);
    expect(outcome).toEqual({ read: allows, listed: allows });
  });

  it.each(conditions)(`lets a DENY fire: ${denies}, %s`, async (_name, condition) => {
    const outcome = await decideOn([
      { resource: 'Case', action: '*' },
      { resource: 'Case', action: '*', effect: 'DENY', conditions: [condition] },
    ]);
    expect(outcome).toEqual({ read: !denies, listed: !denies });
  });
});

/** What Eve may do with Alice's case under these rules alone, read by itself and in a list. */
async function decideOn(rules: readonly Condition[]): Promise<{ readonly read: boolean; readonly listed: boolean }> {
  return underRules(world, rules, async () => {
    const read = await world.as('eve', 'GET', `/api/Case/${world.cases.alice}`);
    const list = await world.as('eve', 'GET', `/api/Case?where[id]=${world.cases.alice}`);
    expect([200, 403]).toContain(read.status);
    expect([200, 403]).toContain(list.status);
    return { read: read.status === 200, listed: list.at('count') === 1 };
  });
}

describe('what SQL cannot say is not dropped from a list', () => {
  it.each<[string, Condition]>([
    ['a pattern', { field: 'resource.title', operator: 'matches', value: "^Bob'?s" }],
    ['an expression', { expression: 'size(resource.title) == 10 && resource.title.startsWith("Bob")' }],
    ['a condition on JSON', { field: 'resource.extra', operator: 'exists', value: false }],
    ['a negated pattern', { not: { field: 'resource.title', operator: 'matches', value: '^Alice' } }],
  ])('%s', async (_name, condition) => {
    await underRules(world, [{ resource: 'Case', action: '*', conditions: [condition] }], async () => {
      const readable: string[] = [];
      for (const id of Object.values(world.cases)) if ((await world.as('eve', 'GET', `/api/Case/${id}`)).status === 200) readable.push(id);
      const listed = (await world.as('eve', 'GET', '/api/Case')).at('data') as readonly { id: string }[];
      expect(listed.map(({ id }) => id).toSorted()).toEqual(readable.toSorted());
      expect(readable).toContain(world.cases.bob);
    });
  });
});

const broken = (condition: unknown, type = 'CUSTOM'): Condition => ({
  name: 'broken',
  type,
  rules: [{ resource: 'Case', action: 'read', conditions: [condition] }],
});
const nested = (depth: number): string => `${'{"not":'.repeat(depth)}{"field":"user.id","operator":"eq","value":1}${'}'.repeat(depth)}`;

describe('a policy that could not be decided is not written', () => {
  checkAttacks(
    () => world,
    (
      [
        ['an unknown operator', broken({ field: 'user.id', operator: 'equals', value: 1 })],
        ['no operator', broken({ field: 'user.id', value: 1 })],
        ['a field that is not there', broken({ field: 'resource.titel', operator: 'eq', value: 'x' })],
        ['a group that is none', broken({ field: 'session.id', operator: 'eq', value: 'x' })],
        ['a field without a group', broken({ field: 'id', operator: 'eq', value: 'x' })],
        ['two groups', broken({ field: 'user.id', context: 'resource', operator: 'eq', value: 'x' })],
        ['a network that is none', broken({ field: 'request.ip', operator: 'cidr', value: '10.0.0.0/33' })],
        ['a pattern that is none', broken({ field: 'user.email', operator: 'matches', value: '(' })],
        ['a pattern with a lookbehind', broken({ field: 'user.email', operator: 'matches', value: '(?<=a)b' })],
        ['a number for text', broken({ field: 'resource.title', operator: 'eq', value: 5 })],
        ['text for a number', broken({ field: 'resource.amount', operator: 'gt', value: '5' })],
        ['an operator of lists on text', broken({ field: 'resource.title', operator: 'hasAny', value: ['x'] })],
        ['a reference that does not end', broken({ field: 'user.id', operator: 'eq', value: `\${resource.ownerId` })],
        ['a reference to nothing', broken({ field: 'user.id', operator: 'eq', value: `\${resource.nosuch}` })],
        ['an expression in an ATTRIBUTE_BASED policy', broken({ expression: 'true' }, 'ATTRIBUTE_BASED')],
        ['an expression that is none', broken({ expression: 'user.id ==' })],
        ['an expression that calls what is not there', broken({ expression: 'system("id") == ""' })],
        ['an expression that compares text with a number', broken({ expression: 'user.id == 5' })],
        ['an expression of another variable', broken({ expression: 'process.env == ""' })],
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
        ['a priority that is no number', { name: 'p', type: 'CUSTOM', priority: '9', rules: [{ resource: '*', action: '*' }] }],
        ['a priority beyond numbers', { name: 'p', type: 'CUSTOM', priority: 1e300, rules: [{ resource: '*', action: '*' }] }],
        ['an effect in another case', { name: 'p', type: 'CUSTOM', rules: [{ resource: '*', action: '*', effect: 'deny' }] }],
        ['an action that is none', { name: 'p', type: 'CUSTOM', rules: [{ resource: '*', action: 'write' }] }],
      ] as const
    ).map(([name, body]) => ({
      name,
      as: 'admin',
      send: 'POST /admin/api/policies',
      body,
      answers: 422,
      also: (reply) => expect((reply.at('errors') as unknown[]).length).toBeGreaterThan(0),
    })),
  );

  it('and six mistakes are six errors', async () => {
    const body = {
      name: '',
      type: 'CUSTOMS',
      priority: 'high',
      rules: [{ resource: 'Case', action: 'reed', effect: 'ALOW', conditions: [{ field: 'resource.titel', operator: 'eq', value: 'x' }] }],
    };
    const reply = await world.as('admin', 'POST', '/admin/api/policies', { body });
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

it('a deactivated policy, rule or assignment, and an expired one, allow nothing', async () => {
  const user = await world.user();
  const read = async (): Promise<number> => (await world.call('GET', `/api/Case/${world.cases.alice}`, { token: user.token })).status;
  const id = await world.createPolicy({ userId: user.id, rules: [{ resource: 'Case', action: 'read' }] });
  const change = async (path: string, body: object): Promise<number> => {
    expect((await world.as('admin', 'PUT', path, { body })).status).toBe(200);
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
