import type { Condition } from '../../conditions/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import type { CompiledRule, Policy, PolicyRule, UserAssignment } from '../policies/index.ts';
import type { ActiveAssignments } from './lint-assignments.ts';
import type { PolicyIndex } from './policy-index.ts';

/** What stands around a policy: everything that advice on it goes by. */
export interface LintContext {
  /** All policies in force, the one that advice is on included where it is active. */
  readonly standings: PolicyIndex;
  /** Of the policy that advice is on. */
  readonly assignments: ActiveAssignments;
  /** What users are assigned beside it: those that `usersLookedAt` names. */
  grantsOf(userId: string): readonly UserAssignment[];
  /** Which attributes active users have. */
  readonly users: UserValueCounts;
  /** Returns whether the database can evaluate a condition on a resource's fields. */
  isSaidInSql(condition: Condition, resource: Resource): boolean;
  /**
   * Of two rules, advice is on the one that goes second, so that a list of all advice says it once. True: on both, because
   * this is the only policy that is looked at.
   */
  readonly alone?: boolean;
}

/** How many of the active users that were looked at have a value, by field of User. */
export interface UserValueCounts {
  readonly looked: number;
  /** Whether those are all active users. */
  readonly all: boolean;
  readonly having: ReadonlyMap<string, number>;
}

/** An active rule that advice is on. */
export interface LintedRule {
  readonly policy: Policy;
  readonly rule: PolicyRule;
  /** Its place among the policy's rules as written. */
  readonly index: number;
  readonly compiled: CompiledRule;
  readonly around: LintContext;
}

/** The definitions in force. */
export function lintedDefinitions({ around }: Pick<LintedRule, 'around'>): Definitions {
  return around.standings.snapshot.compileOptions.definitions;
}
