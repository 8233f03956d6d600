/**
 * The loaded rows that later changes do not replace. Policies may change while they are loaded: a changed row may then have been loaded before its
 * change or after it, and one that was read with several statements may seem damaged or missing. The changes have its content.
 */
import { DAMAGED_ASSIGNMENT } from './damaged-policy.ts';
import type { LoadedRolePolicies, LoadedRoles } from './pending-roles.ts';
import type { DamagedRow, PolicyChanges, PolicyState } from './policy.ts';

/** Returns the rows of a state that changes do not replace. */
export function unchangedState(state: PolicyState, changes: PolicyChanges): PolicyState {
  const { rolePolicies, damaged } = unchangedAssignments({ rolePolicies: state.rolePolicies, damaged: state.damaged ?? [] }, changes);
  return { ...state, policies: state.policies.filter(({ id }) => !changes.policies.has(id)), rolePolicies, damaged };
}

/** Returns the assignments to roles that changes do not replace. */
export function unchangedAssignments({ rolePolicies, damaged: all }: LoadedRolePolicies, changes: PolicyChanges): LoadedRolePolicies {
  const damaged = all.filter((row) => !replacesRow(changes, row));
  const isDamaged = damaged.some(isAssignment);
  const stays = ({ id, policyId }: LoadedRolePolicies['rolePolicies'][number]): boolean =>
    policyId === DAMAGED_ASSIGNMENT.id ? isDamaged : !changes.rolePolicies.has(id);
  return { rolePolicies: rolePolicies.filter(stays), damaged };
}

/** Returns the policies of roles that changes do not replace. */
export function unchangedPolicies({ roles, policies, damaged }: LoadedRoles, changes: PolicyChanges): LoadedRoles {
  return {
    roles,
    policies: new Map([...policies].filter(([id]) => !changes.policies.has(id))),
    damaged: damaged.filter((row) => !replacesRow(changes, row)),
  };
}

/** Returns true if a change replaces a damaged row. */
export function replacesRow(changes: PolicyChanges, row: DamagedRow): boolean {
  return (isAssignment(row) ? changes.rolePolicies : changes.policies).has(row.id);
}

/** Returns true if a list of damaged rows contains all rows of another list. */
export function hasRows(damaged: readonly DamagedRow[], others: readonly DamagedRow[]): boolean {
  return others.every(({ table, id }) => damaged.some((row) => row.table === table && row.id === id));
}

function isAssignment({ table }: DamagedRow): boolean {
  return table === '_RolePolicy';
}
