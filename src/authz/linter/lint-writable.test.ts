import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole, toUser, type WholeState } from '../../../test/policy-fixtures.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Policy } from '../policies/index.ts';
import { lintAll, READ } from './lint.fixture.ts';

const DEFINITIONS = definitionsOf(
  { name: 'Article', fields: { teamId: { type: 'string' }, deskId: { type: 'reference', to: 'Desk' } } },
  { name: 'Desk', fields: { level: { type: 'string' }, seal: { type: 'string', readOnly: true } } },
  {
    name: 'Member',
    fields: { userId: { type: 'string' }, teamId: { type: 'string' }, level: { type: 'string' }, seal: { type: 'string', readOnly: true } },
    indexes: [{ fields: ['userId', 'teamId'] }],
  },
  {
    name: 'User',
    fields: {
      department: { type: 'string' },
      deskId: { type: 'reference', to: 'Desk' },
      joined: { type: 'string', immutable: true },
      role: { type: 'enum', values: ['anon', 'user', 'admin', 'editor'], default: 'user', guarded: true },
    },
  },
);
const is = (field: string, value: string): JsonObject => ({ field, operator: 'eq', value });
const member = (parts: JsonObject = {}): JsonObject => ({
  related: {
    resource: 'Member',
    as: 'm',
    on: { userId: '${user.id}', teamId: '${resource.teamId}' },
    where: [is('m.level', 'editor')],
    ...parts,
  },
});
const write = (resource: string, action: string, ...conditions: readonly JsonObject[]): SomeRule => ({ resource, action, conditions });

/** Returns the details of the findings about a read rule with the condition, beside other rules of the same role. */
function findings(condition: JsonObject, others: readonly SomeRule[], roles: readonly string[] = ['user', 'user']): readonly string[] {
  const policies = [policyOf('p', [{ ...READ, conditions: [condition] }]), policyOf('q', others)];
  const rolePolicies = roles.map((role, index) => toRole(role as 'user', index === 0 ? 'p' : 'q'));
  return lintAll({ definitions: DEFINITIONS, policies, rolePolicies })
    .filter(({ code }) => code === 'self-granted')
    .map(({ detail }) => detail);
}

describe('a condition on what its users may write', () => {
  const reported: readonly [string, JsonObject, readonly SomeRule[]][] = [
    ['anyone may create a membership', member(), [write('Member', 'create')]],
    ['anyone may change a membership', member(), [write('Member', 'update')]],
    ['users may create their own membership', member(), [write('Member', 'create', is('resource.userId', '${user.id}'))]],
    ['users may do everything with their own membership', member(), [write('Member', '*', is('user.id', '${resource.userId}'))]],
    [
      'where compares the user',
      member({ on: { teamId: '${resource.teamId}' }, where: [is('m.userId', '${user.id}'), is('m.level', 'editor')] }),
      [write('Member', 'create', is('resource.userId', '${user.id}'))],
    ],
    [
      'where compares the user, from the left',
      member({ on: { teamId: '${resource.teamId}' }, where: [is('user.id', '${m.userId}')] }),
      [write('Member', 'create')],
    ],
    [
      'users may delete the records of a bound from above',
      member({ atMost: 0 }),
      [write('Member', 'delete', is('resource.userId', '${user.id}'))],
    ],
    ['users may change the records of a bound from above', member({ atMost: 1 }), [write('Member', 'update')]],
    [
      'users may delete records with a value that the service sets',
      member({ where: [is('m.seal', 'x')], atMost: 0 }),
      [write('Member', 'delete')],
    ],
    ['users may delete the records of a range', member({ atLeast: 1, atMost: 2 }), [write('Member', 'delete')]],
    ['every resource may be written', member(), [write('*', 'create')]],
    ['anyone may import memberships', member(), [write('Member', 'import')]],
    [
      'a DENY covers only some of the writes',
      member(),
      [write('Member', 'create'), { ...write('Member', 'create', is('resource.level', 'x')), effect: 'DENY' }],
    ],
    ['users may change the record behind a reference of the record', is('resource.deskId.level', 'press'), [write('Desk', 'update')]],
    ['users may change the record behind their own reference', is('user.deskId.level', 'press'), [write('Desk', 'update')]],
    ['users may change their own reference', is('user.deskId.level', 'press'), [write('User', 'update', is('resource.id', '${user.id}'))]],
    ['users may change every user', is('user.department', 'press'), [write('User', 'update')]],
    ['users may change themselves', is('user.department', 'press'), [write('User', 'update', is('resource.id', '${user.id}'))]],
  ];
  it.each(reported)('the linter reports it if %s', (_, condition, others) => {
    expect(findings(condition, others)).toEqual([expect.stringContaining('of policy "policy q"')]);
  });

  const silent: readonly [string, JsonObject, readonly SomeRule[], (readonly string[])?][] = [
    ['users may delete the records of a bound from below', member(), [write('Member', 'delete')]],
    [
      'others own the records of a bound from above',
      member({ on: { teamId: '${resource.teamId}' }, atMost: 0 }),
      [write('Member', 'delete')],
    ],
    [
      'a DENY covers the deletion of the records of a bound from above',
      member({ atMost: 0 }),
      [write('Member', 'delete'), { ...write('Member', 'delete'), effect: 'DENY' }],
    ],
    ['memberships may only be read', member(), [write('Member', 'read')]],
    ['a further condition limits who may write', member(), [write('Member', 'create', is('user.role', 'editor'))]],
    ['a DENY covers the writes', member(), [write('Member', 'create'), { ...write('Member', 'create'), effect: 'DENY' }]],
    ['another role may write', member(), [write('Member', 'create')], ['user', 'editor']],
    ['the policy is assigned to admins', member(), [write('Member', 'create')], ['admin', 'admin']],
    ['more records do not meet it', member({ atMost: 0 }), [write('Member', 'create')]],
    ['the records are not linked with the user', member({ on: { teamId: '${resource.teamId}' } }), [write('Member', 'create')]],
    ['only the service sets one of its fields', member({ where: [is('m.seal', 'x')] }), [write('Member', 'create')]],
    ['the same users may read everything', member(), [write('Member', 'create'), write('Article', 'read')]],
    [
      'only some of the records behind a reference may be changed',
      is('resource.deskId.level', 'x'),
      [write('Desk', 'update', is('resource.level', 'y'))],
    ],
    ['only the service sets the field behind a reference', is('resource.deskId.seal', 'x'), [write('Desk', 'update')]],
    ['only admins can set the field', is('user.role', 'editor'), [write('User', 'update')]],
    ['the field cannot change', is('user.joined', 'x'), [write('User', 'update')]],
  ];
  it.each(silent)('the linter reports nothing if %s', (_, condition, others, roles) => {
    expect(findings(condition, others, roles)).toEqual([]);
  });

  it.each<[string, readonly SomeRule[], Partial<WholeState>, boolean]>([
    ['the user has both policies', [write('Member', 'create')], { userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')] }, true],
    ['another user may write', [write('Member', 'create')], { userPolicies: [toUser('u1', 'p'), toUser('u2', 'q')] }, false],
    ['every user may write', [write('Member', 'create')], { userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'q')] }, true],
    [
      'only editors may write',
      [write('Member', 'create')],
      { userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('editor' as 'user', 'q')] },
      false,
    ],
  ])('the linter compares a policy that is assigned to a user with the rules of the user: %s', (_, others, assigned, isReported) => {
    const policies = [policyOf('p', [{ ...READ, conditions: [member()] }]), policyOf('q', others)];
    const found = lintAll({ definitions: DEFINITIONS, policies, ...assigned }).filter(({ code }) => code === 'self-granted');
    expect(found.map(({ detail }) => detail)).toEqual(isReported ? [expect.stringContaining('which user u1 may write by')] : []);
  });

  it('reads the rules of the default role as often for many rules and users as for few', () => {
    const countReads = (size: number): number => {
      const numbers = Array.from({ length: size }, (_, index) => `${index}`);
      const readers = policyOf(
        'p',
        numbers.map(() => ({ ...READ, conditions: [member()] })),
      );
      let reads = 0;
      const get = (): string => {
        reads++;
        return 'Desk';
      };
      const [rule] = policyOf('q', [write('Desk', 'create')]).rules;
      const counted = { ...policyOf('q', []), rules: [Object.defineProperty({ ...rule }, 'resource', { get })] };
      const policies = [readers, counted as Policy, ...numbers.map((id) => policyOf(`own ${id}`, []))];
      const userPolicies = numbers.flatMap((id) => [toUser(`u${id}`, 'p'), toUser(`u${id}`, `own ${id}`)]);
      lintAll({ definitions: DEFINITIONS, policies, userPolicies, rolePolicies: [toRole('user', 'q')] }, 'p');
      return reads;
    };
    expect(countReads(20)).toBe(countReads(2));
  });

  it('searches the policies of users up to a limit', () => {
    const ids = Array.from({ length: 150 }, (_, index) => `${index}`.padStart(3, '0'));
    const others = ids.flatMap((id) => Array.from({ length: 20 }, (_, index) => policyOf(`${id} ${index}`, [])));
    const find = (user: string): readonly string[] => {
      const userPolicies = ids.flatMap((id) => [
        toUser(id, 'p'),
        ...others.filter((each) => each.id.startsWith(id)).map((each) => toUser(id, each.id)),
      ]);
      const policies = [policyOf('p', [{ ...READ, conditions: [member()] }]), policyOf('q', [write('Member', 'create')]), ...others];
      return lintAll({ definitions: DEFINITIONS, policies, userPolicies: [...userPolicies, toUser(user, 'q')] }, 'p').map(
        ({ code }) => code,
      );
    };
    expect([find('090'), find('100')]).toEqual([['self-granted'], []]);
  });
});
