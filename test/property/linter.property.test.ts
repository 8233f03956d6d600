import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScope, type ScopeInput } from '../../src/authz/context/index.ts';
import { decide } from '../../src/authz/decision/index.ts';
import { createPolicyIndex, type Finding, lintPolicy } from '../../src/authz/linter/index.ts';
import { applicableRules, compilePolicies, type Policy, type PolicySnapshot } from '../../src/authz/policies/index.ts';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { casesOf } from '../budget.ts';
import {
  assignmentsIn,
  LIMITS,
  NEWSROOM,
  NOW,
  policyOf,
  resourceOf,
  SCOPE_PARTS,
  type SomeRule,
  stateOf,
  toRole,
  toUser,
  type WholeState,
} from '../policy-fixtures.ts';

const USERS = ['u1', 'u2'] as const;
const ROLES = ['user', 'editor'] as const;

const conditions: fc.Arbitrary<readonly JsonObject[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  {
    weight: 3,
    arbitrary: fc.subarray<JsonObject>(
      [
        { field: 'resource.status', operator: 'eq', value: 'draft' },
        { field: 'resource.status', operator: 'eq', value: 'published' },
        { field: 'resource.authorId', operator: 'ne', value: `\${user.id}` },
        { field: 'user.level', operator: 'gt', value: 2, ifExists: true },
      ],
      { minLength: 1, maxLength: 2 },
    ),
  },
);
// Mostly equal, because ties are where an order can go wrong.
const priority = fc.constantFrom(99, 100, 100, 100, 101);
const often = fc.constantFrom(true, true, true, true, false);
const rule: fc.Arbitrary<SomeRule> = fc.record({
  resource: fc.constantFrom('Article', 'Article', 'Desk', '*'),
  action: fc.constantFrom('*', 'read', 'read', 'list'),
  effect: fc.constantFrom('ALLOW', 'DENY'),
  conditions,
  priority,
  isActive: often,
});
const expiry = fc.constantFrom(undefined, undefined, NOW, NOW + 1).map((at) => (at === undefined ? undefined : new Date(at).toISOString()));

const state: fc.Arbitrary<WholeState> = fc
  .array(
    fc.record({ rules: fc.array(rule, { minLength: 1, maxLength: 4 }), priority: often.map((is) => (is ? 100 : 101)), isActive: often }),
    { minLength: 2, maxLength: 4 },
  )
  .chain((drafts) => {
    const policies: Policy[] = drafts.map(({ rules, ...others }, index) => policyOf(`p${index}`, rules, others));
    const assigned = fc.constantFrom(...policies.map(({ id }) => id));
    const selector = ([who, policy]: readonly [string, string, object]): string => `${who} ${policy}`;
    return fc
      .record({
        users: fc.uniqueArray(fc.tuple(fc.constantFrom(...USERS), assigned, fc.record({ isActive: often, expiresAt: expiry })), {
          maxLength: 4,
          selector,
        }),
        roles: fc.uniqueArray(fc.tuple(fc.constantFrom(...ROLES), assigned, fc.record({ isActive: often, priority })), {
          minLength: 2,
          maxLength: 6,
          selector,
        }),
      })
      .map(({ users, roles }) =>
        stateOf({ policies, userPolicies: users.map((one) => toUser(...one)), rolePolicies: roles.map((one) => toRole(...one)) }),
      );
  });

const record = fc.record(
  { id: fc.constant('a1'), status: fc.constantFrom('draft', 'published'), authorId: fc.constantFrom(...USERS) },
  { requiredKeys: ['id'] },
);
const request: fc.Arbitrary<ScopeInput> = fc
  .record({
    id: fc.constantFrom(undefined, ...USERS),
    role: fc.constantFrom(...ROLES),
    attributes: fc.constantFrom({}, { level: 1 }, { level: 3 }),
    action: fc.constantFrom('read', 'list', 'update'),
    record: fc.oneof(record, fc.constant(UNRESOLVED)),
    resource: fc.constantFrom(resourceOf('Article'), resourceOf('Desk')),
    now: fc.constantFrom(NOW, NOW + 2),
  })
  .map(({ id, role, attributes, ...others }) => ({ ...SCOPE_PARTS, ...others, principal: { id, role, attributes } }));

function lintAll(all: WholeState): readonly Finding[] {
  const index = createPolicyIndex(compilePolicies(all, NEWSROOM, LIMITS), NOW);
  return all.policies.flatMap((policy) => {
    const isOfIt = (one: { readonly policyId: string; readonly isActive: boolean }): boolean => one.policyId === policy.id && one.isActive;
    return lintPolicy(policy, {
      index,
      users: { counted: 0, isComplete: true, withValue: new Map() },
      assignmentsOf: (userId) => assignmentsIn(all, userId),
      canCompileToSql: () => true,
      assignments: { roles: all.rolePolicies.filter(isOfIt), users: all.userPolicies.filter(isOfIt), isComplete: true },
    });
  });
}

/** A policy state and its compiled snapshot. */
interface Compiled {
  readonly snapshot: PolicySnapshot;
  readonly all: WholeState;
}

function compile(all: WholeState): Compiled {
  return { snapshot: compilePolicies(all, NEWSROOM, LIMITS), all };
}

/** A decision, the rules that may affect it, and the rules that were evaluated. */
function decideWith({ snapshot, all }: Compiled, parts: ScopeInput) {
  const who = { userId: parts.principal.id, role: parts.principal.role };
  const assignments = assignmentsIn(all, who.userId);
  const applicable = applicableRules(snapshot, {
    assignments,
    role: who.role,
    resource: parts.resource.name,
    action: parts.action,
    now: parts.now,
  });
  const considered = new Set<string>();
  const decision = decide(applicable, createScope(parts), { ...who, trace: (step) => considered.add(step.rule.id) });
  return { decision, applicable, considered };
}

describe('findings about pairs of rules', () => {
  it('reports a rule as idle only if no request evaluates it', () => {
    let met = 0;
    fc.assert(
      fc.property(state, fc.array(request, { minLength: 8, maxLength: 8 }), (all, requests) => {
        const idle = lintAll(all)
          .filter(({ code }) => code === 'never-fires' || code === 'redundant')
          .map((one) => String(one.rule?.id));
        const compiled = compile(all);
        for (const parts of idle.length === 0 ? [] : requests) {
          const { applicable, considered } = decideWith(compiled, parts);
          expect(idle.filter((id) => considered.has(id))).toEqual([]);
          met += applicable.rules.filter(({ id }) => idle.includes(id)).length;
        }
      }),
      { numRuns: casesOf(500) },
    );
    // Idle rules that applied to a request.
    expect(met).toBeGreaterThan(casesOf(500) / 3);
  });

  it('reports rules as redundant only if removing all of them changes no decision', () => {
    let gone = 0;
    fc.assert(
      fc.property(state, fc.array(request, { minLength: 8, maxLength: 8 }), (all, requests) => {
        const redundant = new Set(lintAll(all).flatMap(({ code, rule: one }) => (code === 'redundant' ? [one?.id] : [])));
        if (redundant.size === 0) return;
        const without = all.policies.map((policy) => ({ ...policy, rules: policy.rules.filter(({ id }) => !redundant.has(id)) }));
        const [before, after] = [all, { ...all, policies: without }].map(compile);
        if (before === undefined || after === undefined) throw new Error('two states make two snapshots');
        for (const parts of requests)
          expect(JSON.stringify(decideWith(after, parts).decision)).toBe(JSON.stringify(decideWith(before, parts).decision));
        gone += redundant.size;
      }),
      { numRuns: casesOf(500) },
    );
    expect(gone).toBeGreaterThan(casesOf(500) / 10);
  });

  it('reports a conflict only if both rules apply to one request, the DENY first', () => {
    let told = 0;
    fc.assert(
      fc.property(state, (all) => {
        const compiled = compile(all);
        for (const { code, policy, rule: allow, other } of lintAll(all)) {
          // In an unassigned policy, rules are compared with each other.
          if (code !== 'conflict' || policy.id === other?.policy.id) continue;
          const meet = [undefined, ...USERS].some((id) =>
            ['none', ...ROLES].some((role) =>
              ['Article', 'Desk', 'User'].some((name) =>
                (['read', 'list', 'update'] as const).some((action) => {
                  const parts = { ...SCOPE_PARTS, principal: { id, role, attributes: {} }, resource: resourceOf(name), action };
                  const order = decideWith(compiled, parts).applicable.rules.map((one) => one.id);
                  const [deny, second] = [order.indexOf(String(other?.rule.id)), order.indexOf(String(allow?.id))];
                  return deny >= 0 && deny < second;
                }),
              ),
            ),
          );
          expect(meet).toBe(true);
          told++;
        }
      }),
      { numRuns: casesOf(400) },
    );
    expect(told).toBeGreaterThan(casesOf(400) / 40);
  });
});
