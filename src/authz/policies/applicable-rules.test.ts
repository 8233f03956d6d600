import { describe, expect, it } from 'vitest';
import { assignmentsIn, LIMITS, NEWSROOM, NOW, policyOf, stateOf, toRole, toUser, type WholeState } from '../../../test/policy-fixtures.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type ApplicableRequest, applicableRules, rulesOfPolicy } from './applicable-rules.ts';
import { compilePolicies } from './policy-snapshot.ts';

/** A request by user id; the assignments come from the state. */
type UserRequest = Omit<ApplicableRequest, 'assignments'> & { readonly userId?: string | undefined };

const userRequest: UserRequest = { userId: 'u1', role: 'user', resource: 'Article', action: 'read', now: NOW };
const request: ApplicableRequest = { ...userRequest, assignments: [] };

function apply(parts: Partial<WholeState>, others: Partial<UserRequest> = {}) {
  const state = stateOf(parts);
  const { userId, ...rest } = { ...userRequest, ...others };
  const { rules, ...applicable } = applicableRules(compilePolicies(state, NEWSROOM, LIMITS), {
    ...rest,
    assignments: assignmentsIn(state, userId),
  });
  return { rules: rules.map(({ id }) => id), ...applicable };
}

const p = policyOf('p', [{}]);
const past = new Date(NOW).toISOString();
const later = new Date(NOW + 1000).toISOString();

describe('applicable policies', () => {
  const rows: readonly [what: string, state: Partial<WholeState>, expected: object, request?: Partial<UserRequest>][] = [
    ['no policy applies without an assignment', { policies: [p] }, { rules: [], found: false }],
    ['a policy applies by its role', { policies: [p], rolePolicies: [toRole('user', 'p')] }, { rules: ['p.0'], found: true }],
    ['a policy of another role does not apply', { policies: [p], rolePolicies: [toRole('admin', 'p')] }, { rules: [], found: false }],
    ['a policy applies by its user', { policies: [p], userPolicies: [toUser('u1', 'p')] }, { rules: ['p.0'], found: true }],
    [
      'a policy of the user applies, although no rule names the resource',
      { policies: [policyOf('p', [{ resource: 'Desk' }])], userPolicies: [toUser('u1', 'p')] },
      { rules: [], found: true },
    ],
    ['a policy of another user does not apply', { policies: [p], userPolicies: [toUser('u2', 'p')] }, { rules: [], found: false }],
    [
      'a policy of a user does not apply to anon',
      { policies: [p], userPolicies: [toUser('u1', 'p')] },
      { rules: [], found: false },
      { userId: undefined, role: 'anon' },
    ],
    [
      'a policy that is assigned by role and by user applies once',
      { policies: [p], userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'p')] },
      { rules: ['p.0'], found: true },
    ],
    [
      'an inactive policy does not apply',
      { policies: [{ ...p, isActive: false }], userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'p')] },
      { rules: [], found: false },
    ],
    [
      'an inactive user assignment does not apply',
      { policies: [p], userPolicies: [toUser('u1', 'p', { isActive: false })] },
      { rules: [], found: false },
    ],
    [
      'an inactive role assignment does not apply',
      { policies: [p], rolePolicies: [toRole('user', 'p', { isActive: false })] },
      { rules: [], found: false },
    ],
    [
      'an assignment does not apply from the moment it expires',
      { policies: [p], userPolicies: [toUser('u1', 'p', { expiresAt: past })] },
      { rules: [], found: false },
    ],
    [
      'an assignment applies until it expires',
      { policies: [p], userPolicies: [toUser('u1', 'p', { expiresAt: later })] },
      { rules: ['p.0'], found: true, validUntil: NOW + 1000 },
    ],
    [
      'inactive rules do not apply, though their policy is found',
      { policies: [policyOf('p', [{ isActive: false }])], rolePolicies: [toRole('user', 'p')] },
      { rules: [], found: true },
    ],
    [
      'an inactive rule beside an active one does not apply',
      { policies: [policyOf('p', [{ isActive: false }, {}])], userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'p')] },
      { rules: ['p.1'], found: true },
    ],
    [
      'an assignment of a deleted policy does not apply',
      { rolePolicies: [toRole('user', 'p')], userPolicies: [toUser('u1', 'p')] },
      { rules: [], found: false },
    ],
    [
      'a role called __proto__ has no policies',
      { policies: [p], rolePolicies: [toRole('user', 'p')] },
      { rules: [], found: false },
      { role: '__proto__' },
    ],
  ];
  it.each(rows)('finds applicable policies: %s', (_, state, expected, others) => {
    expect(apply(state, others)).toMatchObject({ validUntil: Number.POSITIVE_INFINITY, ...expected });
  });
});

describe('applicable rules', () => {
  const policies = [
    policyOf('p', [
      { id: 'all' },
      { id: 'article', resource: 'Article' },
      { id: 'article-read', resource: 'Article', action: 'read' },
      { id: 'article-list', resource: 'Article', action: 'list' },
      { id: 'desk', resource: 'Desk' },
      { id: 'read', action: 'read' },
      { id: 'audit', resource: '_Decision', action: 'export' },
    ]),
  ];
  const rows: readonly [resource: string, action: ApplicableRequest['action'], rules: readonly string[]][] = [
    ['Article', 'read', ['all', 'article', 'article-read', 'read']],
    ['Article', 'list', ['all', 'article', 'article-list']],
    ['Article', 'delete', ['all', 'article']],
    ['Desk', 'read', ['all', 'desk', 'read']],
    ['Unheard', 'read', ['all', 'read']],
    ['_Decision', 'export', ['audit']],
    ['_Decision', 'read', []],
    ['__proto__', 'list', ['all']],
    ['*', 'read', ['all', 'read']],
  ];
  it.each(rows)('finds the rules for resource %s and action %s', (resource, action, rules) => {
    const snapshot = compilePolicies(stateOf({ policies, rolePolicies: [toRole('user', 'p')] }), NEWSROOM, LIMITS);
    // Twice: the second result comes from the cache.
    for (const _ of [1, 2]) expect(applicableRules(snapshot, { ...request, resource, action }).rules.map(({ id }) => id)).toEqual(rules);
  });
});

describe('the paths that rules read', () => {
  const reading = (...fields: readonly string[]) => ({ conditions: fields.map((field) => ({ field, operator: 'exists', value: true })) });

  it('lists the paths that rules read once, with the first rule that reads them', () => {
    const policies = [
      policyOf('p', [reading('user.id'), reading('resource.title', 'user.id'), { ...reading('resource.authorId.name'), priority: 101 }]),
      policyOf('own', [{ ...reading('user.role', 'resource.title'), priority: 102 }]),
    ];
    const parts = { policies, rolePolicies: [toRole('user', 'p')], userPolicies: [toUser('u1', 'own')] };
    const readsOf = (userId: string) => apply(parts, { userId }).reads.map(({ path, first }) => `${first} ${path.text}`);
    expect(readsOf('u2')).toEqual(['0 resource.authorId.name', '1 user.id', '2 resource.title']);
    expect(readsOf('u1')).toEqual(['0 user.role', '0 resource.title', '1 resource.authorId.name', '2 user.id']);
    expect(apply(parts).referencePaths.map(({ text }) => text)).toEqual(['resource.authorId.name']);
  });
});

describe('the order of rules', () => {
  it('orders rules by rule priority, policy priority, assignment priority, DENY before ALLOW, rule id', () => {
    const policies = [
      policyOf('low', [{ id: 'a-high', priority: 900 }, { id: 'b' }, { id: 'a' }, { id: 'z', effect: 'DENY' }]),
      policyOf('high', [{ id: 'of-high-policy' }, { id: 'lowest', priority: -1 }], { priority: 200 }),
      policyOf('favoured', [{ id: 'of-favoured' }]),
    ];
    const rolePolicies = [toRole('user', 'low'), toRole('user', 'high', { priority: 1 }), toRole('user', 'favoured', { priority: 101 })];
    const expected = ['a-high', 'of-high-policy', 'of-favoured', 'z', 'a', 'b', 'lowest'];
    expect(apply({ policies, rolePolicies }).rules).toEqual(expected);
    expect(apply({ policies: policies.toReversed(), rolePolicies: rolePolicies.toReversed() }).rules).toEqual(expected);
    const userPolicies = [toUser('u1', 'low'), toUser('u1', 'high')];
    expect(apply({ policies, userPolicies, rolePolicies: rolePolicies.slice(2) }).rules).toEqual(expected);
  });

  it('the records to load do not depend on the order in which assignments are stored', () => {
    const reading = (id: string, field: string) => policyOf(id, [{ conditions: [{ field, operator: 'exists', value: true }] }]);
    const policies = [reading('p', 'resource.authorId.name'), reading('q', 'resource.authorId.email')];
    const own = [toUser('u1', 'p'), toUser('u1', 'q')];
    const stored = apply({ policies, userPolicies: own }).referencePaths.map(({ text }) => text);
    expect(stored).toEqual(['resource.authorId.name', 'resource.authorId.email']);
    expect(apply({ policies, userPolicies: own.toReversed() }).referencePaths.map(({ text }) => text)).toEqual(stored);
  });

  it('uses the higher priority of a policy assigned to the role and to the user', () => {
    const policies = [policyOf('p', [{ id: 'b' }]), policyOf('q', [{ id: 'a' }])];
    const order = (p: number, q: number) =>
      apply({
        policies,
        userPolicies: [toUser('u1', 'p')],
        rolePolicies: [toRole('user', 'p', { priority: p }), toRole('user', 'q', { priority: q })],
      }).rules;
    expect(order(50, 60)).toEqual(['b', 'a']);
    expect(order(110, 105)).toEqual(['b', 'a']);
    expect(order(50, 105)).toEqual(['a', 'b']);
  });
});

describe('the cache', () => {
  it('the cache does not grow with names from requests', () => {
    const snapshot = compilePolicies(stateOf({ policies: [p], rolePolicies: [toRole('user', 'p')] }), NEWSROOM, LIMITS);
    for (let index = 0; index < 100; index++) {
      const role = index % 2 === 0 ? 'user' : `role${index}`;
      applicableRules(snapshot, {
        ...request,
        assignments: assignmentsIn({ userPolicies: [toUser('u1', 'gone')] }, `u${index % 3}`),
        resource: `Made${index}`,
        role,
      });
    }
    const buckets = [...snapshot.memo.buckets.values()].flatMap((byAction) => [...byAction.values()]);
    expect(buckets.map(({ byRole }) => byRole.size)).toEqual([1]);
    expect(snapshot.memo.merged.entries.size).toBe(0);
  });

  it('users with the same assignments share an entry of the cache', () => {
    const policies = [p, ...['own', 'other', 'zebra'].map((id) => policyOf(id, [{}])), policyOf('elsewhere', [{ resource: 'Desk' }])];
    const both = (userId: string) => [toUser(userId, 'own'), toUser(userId, 'other')];
    const userPolicies = [...both('u1'), ...both('u2').reverse(), toUser('u3', 'own'), toUser('u4', 'elsewhere'), toUser('u5', 'other')];
    const longer = [toUser('u6', 'other'), toUser('u6', 'zebra')];
    const state = stateOf({ policies, rolePolicies: [toRole('user', 'p')], userPolicies: [...userPolicies, ...longer] });
    const snapshot = compilePolicies(state, NEWSROOM, LIMITS);
    const of = (userId: string) => applicableRules(snapshot, { ...request, assignments: assignmentsIn(state, userId) });
    expect(of('u1').rules.map(({ id }) => id)).toEqual(['other.0', 'own.0', 'p.0']);
    expect(of('u2')).toBe(of('u1'));
    expect(of('u3').rules.map(({ id }) => id)).toEqual(['own.0', 'p.0']);
    expect(of('u4')).toBe(of('u0'));
    expect(of('u5').rules.map(({ id }) => id)).toEqual(['other.0', 'p.0']);
    expect(of('u6').rules.map(({ id }) => id)).toEqual(['other.0', 'p.0', 'zebra.0']);
  });

  it('the cache removes the oldest entry before it becomes too large', () => {
    const names = Array.from({ length: 25 }, (_, index) => `own${index}`);
    const rules = Array.from({ length: 5000 }, () => ({}));
    const policies = [policyOf('p', rules), ...names.map((name) => policyOf(name, [{ priority: 101 }]))];
    const snapshot = compilePolicies(stateOf({ policies, rolePolicies: [toRole('user', 'p')] }), NEWSROOM, LIMITS);
    const of = (name = '') =>
      applicableRules(snapshot, { ...request, assignments: assignmentsIn({ userPolicies: [toUser('u1', name)] }, 'u1') });
    const [first, last] = [of(names[0]), of(names.at(-1))];
    for (const name of names) {
      const applicable = of(name);
      expect([applicable.rules.length, applicable.rules[0]?.id]).toEqual([5001, `${name}.0`]);
      const cached = [...snapshot.memo.merged.entries.values()].reduce((sum, each) => sum + each.applicable.rules.length, 0);
      expect(cached).toBeLessThanOrEqual(100_000);
      expect(of(name)).toBe(applicable);
    }
    expect(of(names[0])).not.toBe(first);
    expect(of(names.at(-1))).not.toBe(last);
  });

  it('the cache does not mix the assignments of two users', () => {
    const policies = [p, policyOf('own', [{}])];
    const state = stateOf({ policies, rolePolicies: [toRole('user', 'p')], userPolicies: [toUser('u1', 'own')] });
    const snapshot = compilePolicies(state, NEWSROOM, LIMITS);
    const of = (userId: string) => applicableRules(snapshot, { ...request, assignments: assignmentsIn(state, userId) }).rules.length;
    expect([of('u1'), of('u2'), of('u1')]).toEqual([2, 1, 2]);
  });
});

describe('rulesOfPolicy', () => {
  it('returns the active rules of one policy, even if it is inactive and not assigned', () => {
    const policy = policyOf(
      'p',
      [{ id: 'a' }, { id: 'off', isActive: false }, { id: 'desk', resource: 'Desk' }, { id: 'first', priority: 101 }],
      { isActive: false },
    );
    const applicable = rulesOfPolicy(policy, { definitions: NEWSROOM, limits: LIMITS }, request);
    expect(applicable).toMatchObject({ rules: [{ id: 'first' }, { id: 'a' }], found: true });
  });
});

describe('compilation', () => {
  it('compiles a rule once, when a request first needs it', () => {
    const policies = [
      policyOf('p', [{ id: 'both', resource: 'Article' }, { id: 'list', resource: 'Article', action: 'list' }, { resource: 'Desk' }]),
      policyOf('q', [{}]),
    ];
    const snapshot = compilePolicies(stateOf({ policies, rolePolicies: [toRole('user', 'p'), toRole('admin', 'q')] }), NEWSROOM, LIMITS);
    const compiled = () => policies.flatMap(({ rules }) => rules.filter((rule) => snapshot.memo.rules.has(rule)).map(({ id }) => id));
    expect(compiled()).toEqual([]);
    const [both] = applicableRules(snapshot, request).rules;
    expect(compiled()).toEqual(['both']);
    expect(applicableRules(snapshot, { ...request, action: 'list' }).rules[0]).toBe(both);
    expect(compiled()).toEqual(['both', 'list']);
  });
});

describe('a stored rule that no longer parses', () => {
  const deep = Array.from({ length: 20_000 }).reduce<JsonObject>((inner) => ({ not: inner }), {});
  const nearly = { field: 'user.id', operator: 'eq', value: 'u1' };
  const rows: readonly [what: string, conditions: unknown][] = [
    ['a removed field', [{ field: 'resource.gone', operator: 'exists', value: false }]],
    ['a removed operator', [{ ...nearly, operator: 'is' }]],
    ['an operator called constructor', [{ ...nearly, operator: 'constructor' }]],
    ['an unknown member', [{ ...nearly, unless: true }]],
    ['deeply nested groups', [deep]],
    ['a long list', [{ ...nearly, operator: 'in', value: Array.from({ length: 10_000 }, () => 'u1') }]],
    ['a broken expression', [{ expression: 'user.id ==' }]],
    ['a text in place of a condition', ['user.id']],
    ['null in place of a condition', [null]],
    ['an object in place of the list', nearly],
    ['null in place of the list', null],
    ['a text in place of the list', 'true'],
    ['an object that looks like a list', { length: 1, 0: nearly }],
  ];
  it.each(rows)('keeps a stored rule that no longer parses, with a condition that is unknown: %s', (_, conditions) => {
    const policies = [policyOf('p', [{ resource: 'Article', conditions: conditions as readonly JsonObject[] }])];
    const snapshot = compilePolicies(stateOf({ policies, rolePolicies: [toRole('user', 'p')] }), NEWSROOM, LIMITS);
    expect(applicableRules(snapshot, request).rules.map(({ condition }) => condition)).toEqual([{ type: 'constant', value: null }]);
  });
});
