import type { Condition } from '../../conditions/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import type { CompiledRule, Policy, PolicyRule, RolePolicy, UserAssignment, UserPolicy } from '../policies/index.ts';
import type { PolicyIndex } from './policy-index.ts';

/** The input of the linter, in addition to the policy. */
export interface LintContext {
  /** All active policies, including the linted one if it is active. */
  readonly index: PolicyIndex;
  /** Assignments of the linted policy. */
  readonly assignments: ActiveAssignments;
  /** Returns the other assignments of a user. Called for the users that `usersToCompare` returns. */
  assignmentsOf(userId: string): readonly UserAssignment[];
  /** Has to be counted only for a policy for which `readsUserAttributes` is true. */
  readonly users: UserValueCounts;
  /** Returns true if the database can evaluate a condition on the fields of a resource. */
  canCompileToSql(condition: Condition, resource: Resource): boolean;
  /**
   * True if only this policy is linted. A finding about two rules is then reported for both; otherwise only for the rule that comes second,
   * so that a list of all findings contains it once.
   */
  readonly isSingle?: boolean;
}

/** The active assignments of a policy, including expired ones. */
export interface ActiveAssignments {
  readonly roles: readonly RolePolicy[];
  /** Ordered by expiry, up to a limit. */
  readonly users: readonly UserPolicy[];
  /** True if `users` contains every active assignment to a user. */
  readonly isComplete: boolean;
}

/** The number of active users with a value, by field of User. */
export interface UserValueCounts {
  /** Number of active users that were counted. */
  readonly counted: number;
  /** True if all active users were counted. */
  readonly isComplete: boolean;
  readonly withValue: ReadonlyMap<string, number>;
}

/** An active rule of the linted policy. */
export interface LintedRule {
  readonly policy: Policy;
  readonly rule: PolicyRule;
  /** Index of the rule in `policy.rules`. */
  readonly position: number;
  readonly compiled: CompiledRule;
  readonly context: LintContext;
}

/** Returns the definitions in force. */
export function definitionsFor({ context }: Pick<LintedRule, 'context'>): Definitions {
  return context.index.snapshot.compileOptions.definitions;
}
