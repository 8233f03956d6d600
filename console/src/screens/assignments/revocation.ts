/** The revocation of several assignments. */
import type { NamedAssignment } from '../../api/assignments.ts';
import type { AccessChangesOfSubjectsProps } from '../../components/access-change/AccessChangesOfSubjects.tsx';
import { assignmentsTexts } from '../../texts/policy.ts';

/** Returns the reason why the service would refuse to revoke the assignments: files manage some of them. Undefined if it would not. */
export function revocationRefusal(selected: readonly Pick<NamedAssignment, 'managedBy' | 'name' | 'policyName'>[]): string | undefined {
  const managed = selected.filter(({ managedBy }) => managedBy !== undefined);
  const [first] = managed;
  return first && assignmentsTexts.managed(managed.length, first);
}

/** Returns the draft that revokes the assignments. */
export function toDraft(selected: readonly NamedAssignment[]): AccessChangesOfSubjectsProps['draft'] {
  return {
    removeAssignments: selected.map(({ policyId, userId = '', role }) => ({ policyId, ...(role === undefined ? { userId } : { role }) })),
  };
}
