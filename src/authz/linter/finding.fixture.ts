import {
  grantsIn,
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
import type { LintContext } from './lint-subject.ts';
import { createPolicyIndex } from './policy-index.ts';

/** Policies, their assignments, and what else advice goes by. */
export interface TestPolicies extends Partial<Omit<WholeState, 'epoch'>> {
  readonly definitions?: Definitions;
  readonly users?: LintContext['users'];
  readonly alone?: boolean;
  /** Whether all assignments are looked at. */
  readonly all?: boolean;
}

const NOBODY: LintContext['users'] = { looked: 0, all: true, having: new Map() };

/** Advice on every policy of a world, or on the one of that id. */
export function lintWorld(
  { definitions = NEWSROOM, users = NOBODY, alone = false, all: areAll = true, ...state }: TestPolicies,
  policyId?: string,
): readonly Finding[] {
  const all = stateOf(state);
  const standings = createPolicyIndex(compilePolicies(all, definitions, LIMITS), NOW);
  return all.policies
    .filter(({ id }) => policyId === undefined || id === policyId)
    .flatMap((policy) =>
      lintPolicy(policy, {
        standings,
        users,
        alone,
        grantsOf: (userId) => grantsIn(all, userId),
        isSaidInSql: (condition) => condition.type !== 'comparison' || condition.operator !== 'matches',
        assignments: {
          roles: all.rolePolicies.filter((one) => one.policyId === policy.id && one.isActive),
          users: all.userPolicies.filter((one) => one.policyId === policy.id && one.isActive),
          all: areAll,
        },
      }),
    );
}

/** Advice on one policy assigned to role user, as `path code`. */
export function onRules(...rules: readonly SomeRule[]): readonly string[] {
  return lintWorld({ policies: [policyOf('p', rules)], rolePolicies: [toRole('user', 'p')] }).map(({ path, code }) => `${path} ${code}`);
}

/** A comparison; with "x" where nothing is said. */
export function comparison(field: string, operator: string = 'eq', value: Json = 'x'): JsonObject {
  return { field, operator, value };
}

/** Conditions of a rule. */
export function when(...conditions: readonly JsonObject[]): SomeRule {
  return { conditions };
}

/** A rule that denies. */
export const DENY: Pick<PolicyRule, 'effect'> = { effect: 'DENY' };
/** A rule about reading articles. */
export const READ: Pick<PolicyRule, 'resource' | 'action'> = { resource: 'Article', action: 'read' };
/** Holds for drafts. */
export const drafts: JsonObject = comparison('resource.status', 'eq', 'draft');
