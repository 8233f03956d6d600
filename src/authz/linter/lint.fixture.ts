import {
  assignmentsIn,
  LIMITS,
  NEWSROOM,
  NOW,
  policyOf,
  type SomeRule,
  stateOf,
  toRole,
  type WholeState,
} from '../../../test/policy-fixtures.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { compilePolicies, type PolicyRule } from '../policies/index.ts';
import type { Finding } from './finding.ts';
import { lintPolicy } from './lint.ts';
import type { LintContext } from './lint-context.ts';
import { createPolicyIndex } from './policy-index.ts';

/** Policies and assignments, and the other input of the linter. */
export interface TestPolicies extends Partial<Omit<WholeState, 'revision'>> {
  readonly definitions?: Definitions;
  readonly users?: LintContext['users'];
  readonly isSingle?: boolean;
  /** False if not all assignments are known. */
  readonly isComplete?: boolean;
}

const NO_USERS: LintContext['users'] = { counted: 0, isComplete: true, withValue: new Map() };

/**
 * Lints all policies, or only the policy with the id `policyId`, and returns the findings of the level `warning`: the rules of most tests allow
 * reading only, which is reported at the level `info`.
 */
export function lintAll(policies: TestPolicies, policyId?: string): readonly Finding[] {
  return lintEvery(policies, policyId).filter(({ level }) => level === 'warning');
}

/** Lints all policies, or only the policy with the id `policyId`, and returns the findings of all levels. */
export function lintEvery(
  { definitions = NEWSROOM, users = NO_USERS, isSingle = false, isComplete = true, ...parts }: TestPolicies,
  policyId?: string,
): readonly Finding[] {
  const state = stateOf(parts);
  const index = createPolicyIndex(compilePolicies(state, definitions, LIMITS), NOW);
  return state.policies
    .filter(({ id }) => policyId === undefined || id === policyId)
    .flatMap((policy) =>
      lintPolicy(policy, {
        index,
        users,
        isSingle,
        assignmentsOf: (userId) => assignmentsIn(state, userId),
        canCompileToSql: (condition) => !/"operator":"matches"|"resource":"Sealed"/.test(JSON.stringify(condition)),
        assignments: {
          roles: state.rolePolicies.filter((assignment) => assignment.policyId === policy.id && assignment.isActive),
          users: state.userPolicies.filter((assignment) => assignment.policyId === policy.id && assignment.isActive),
          isComplete,
        },
      }),
    );
}

/** Lints one policy assigned to role user. Returns `path code` of each finding. */
export function lintRules(...rules: readonly SomeRule[]): readonly string[] {
  return lintAll({ policies: [policyOf('p', rules)], rolePolicies: [toRole('user', 'p')] }).map(({ path, code }) => `${path} ${code}`);
}

/** A comparison; by default with `eq` and "x". */
export function comparison(field: string, operator: string = 'eq', value: Json = 'x'): JsonObject {
  return { field, operator, value };
}

/** Returns a rule with these conditions. */
export function when(...conditions: readonly JsonObject[]): SomeRule {
  return { conditions };
}

/** The effect DENY. */
export const DENY: Pick<PolicyRule, 'effect'> = { effect: 'DENY' };
/** The action of reading articles. */
export const READ: Pick<PolicyRule, 'resource' | 'action'> = { resource: 'Article', action: 'read' };
/** A condition that is true for drafts. */
export const drafts: JsonObject = comparison('resource.status', 'eq', 'draft');
