import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScope } from '../../src/authz/context/index.ts';
import { applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import { evaluate, UNRESOLVED } from '../../src/conditions/index.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { casesOf } from '../budget.ts';
import {
  assignmentsIn,
  LIMITS,
  NEWSROOM,
  NOW,
  policyOf,
  SCOPE_PARTS,
  type SomeRule,
  stateOf,
  toRole,
  type WholeState,
} from '../policy-fixtures.ts';
import { authorOf, decideNewsroom } from '../reference/newsroom-facts.ts';
import { decideWithRules, newsroomParts, newsroomRecord, newsroomState } from './random-newsroom.ts';

/** Generates nested groups of known, unknown and missing values, half of them negated. */
const { nested } = fc.letrec<{ nested: JsonObject }>((tie) => ({
  nested: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<JsonObject>(
      { field: 'resource.status', operator: 'eq', value: 'draft' },
      { field: 'resource.views', operator: 'gt', value: 5 },
      { field: 'user.missing', operator: 'eq', value: 1 },
      { field: 'user.id', operator: 'exists', value: true },
      { field: 'user.id', operator: 'exists', value: false },
    ),
    fc.record({ anyOf: fc.array(tie('nested'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('nested'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('nested') }),
  ),
}));

const records: readonly JsonObject[] = [undefined, 'draft', 'published'].flatMap((status) =>
  [undefined, 3, 10].map((views) => ({ id: 'a1', ...(status !== undefined && { status }), ...(views !== undefined && { views }) })),
);

const runs = { numRuns: casesOf(500) };

describe('decide', () => {
  it('a decision agrees with the reference decider', () => {
    const effects = { allow: 0, deny: 0 };
    fc.assert(
      fc.property(newsroomState, newsroomParts, (policies, scopeParts) => {
        const { applicable, decision } = decideWithRules(policies, scopeParts);
        const { allowed, ruleId, found } = decideNewsroom(policies, scopeParts);
        expect(decision.effect).toBe(allowed ? 'allow' : 'deny');
        effects[allowed ? 'allow' : 'deny']++;
        expect('rule' in decision ? decision.rule?.id : undefined).toBe(ruleId);
        expect(applicable.found).toBe(found);
      }),
      runs,
    );
    expect(Math.min(effects.allow, effects.deny)).toBeGreaterThan(runs.numRuns / 10);
  });

  it('a decision does not depend on the order of stored policies and rules', () => {
    fc.assert(
      fc.property(newsroomState, newsroomParts, (policies, scopeParts) => {
        const reversed: WholeState = {
          revision: policies.revision,
          policies: policies.policies.toReversed().map((policy) => ({ ...policy, rules: policy.rules.toReversed() })),
          userPolicies: policies.userPolicies.toReversed(),
          rolePolicies: policies.rolePolicies.toReversed(),
        };
        // As data, because compiled conditions contain functions, which are never equal.
        expect(JSON.stringify(decideWithRules(reversed, scopeParts))).toBe(JSON.stringify(decideWithRules(policies, scopeParts)));
      }),
      runs,
    );
  });

  it('lists exactly the records that are allowed one by one', () => {
    fc.assert(
      fc.property(
        newsroomState,
        newsroomParts,
        fc.array(newsroomRecord, { minLength: 1, maxLength: 5 }),
        (policies, scopeParts, records) => {
          const { recordId: _, ...open } = scopeParts;
          const { decision } = decideWithRules(policies, { ...open, record: UNRESOLVED });
          for (const one of records) {
            const onRecord = { ...open, record: one, referenced: authorOf(one) };
            const listed =
              decision.effect === 'allow-where' ? evaluate(decision.where, createScope(onRecord)) === true : decision.effect === 'allow';
            expect(listed).toBe(decideNewsroom(policies, onRecord).allowed);
          }
        },
      ),
      runs,
    );
  });

  it('a decision does not depend on earlier requests', () => {
    fc.assert(
      fc.property(newsroomState, fc.array(newsroomParts, { minLength: 2, maxLength: 6 }), (policies, requests) => {
        const cached = compilePolicies(policies, NEWSROOM, LIMITS);
        for (const one of requests) {
          const { principal, resource, action } = one;
          const assignments = assignmentsIn(policies, principal.id);
          const request = { assignments, role: principal.role, resource: resource.name, action, now: NOW };
          const fresh = applicableRules(compilePolicies(policies, NEWSROOM, LIMITS), request);
          expect(applicableRules(cached, request).rules.map(({ id }) => id)).toEqual(fresh.rules.map(({ id }) => id));
        }
      }),
      { numRuns: casesOf(300) },
    );
  });

  it('lists exactly the allowed records with unknown values inside groups and negations', () => {
    let some = 0;
    fc.assert(
      fc.property(nested, fc.constantFrom('ALLOW', 'DENY'), (nestedCondition, effect) => {
        const rules: SomeRule[] = [
          { effect, conditions: [nestedCondition], priority: 200 },
          { effect: effect === 'ALLOW' ? 'DENY' : 'ALLOW' },
        ];
        const policies = stateOf({ policies: [policyOf('p', rules)], rolePolicies: [toRole('user', 'p')] });
        const { decision } = decideWithRules(policies, { ...SCOPE_PARTS, action: 'list', record: UNRESOLVED });
        const allowed = records.map((record) => decideNewsroom(policies, { ...SCOPE_PARTS, action: 'list', record }).allowed);
        const listed = records.map((record) =>
          decision.effect === 'allow-where'
            ? evaluate(decision.where, createScope({ ...SCOPE_PARTS, action: 'list', record })) === true
            : decision.effect === 'allow',
        );
        expect(listed).toEqual(allowed);
        if (new Set(allowed).size === 2) some++;
      }),
      runs,
    );
    expect(some).toBeGreaterThan(runs.numRuns / 5);
  });
});
