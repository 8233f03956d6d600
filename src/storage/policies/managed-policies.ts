/** The guard of policies and assignments that files manage: only an application of the files changes them. */
import type { Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';

/** @throws Problem POLICY_MANAGED if files manage the policy */
export function requireUnmanaged({ name, managedBy, file }: Pick<Policy, 'name' | 'managedBy' | 'file'>): void {
  if (managedBy !== undefined) throw new Problem('POLICY_MANAGED', `policy "${name}" is managed by the file ${file ?? 'of its project'}`);
}

/** The sentence about an assignment that files manage. */
export const MANAGED_ASSIGNMENT = 'the assignment is managed by files: the file of the policy lists the role';

/** @throws Problem POLICY_MANAGED if files manage the assignment */
export function requireUnmanagedAssignment(assignment: UserPolicy | RolePolicy): void {
  if (isManagedAssignment(assignment)) throw new Problem('POLICY_MANAGED', MANAGED_ASSIGNMENT);
}

/** Returns true if files manage the assignment. Files list only roles. */
export function isManagedAssignment(assignment: UserPolicy | RolePolicy): boolean {
  return 'role' in assignment && assignment.managedBy !== undefined;
}

/** Returns a policy that the admin API manages. */
export function withoutManager(policy: Policy): Policy {
  const { managedBy: _, file: __, ...own } = policy;
  return own;
}
