import type { AssignableRole, Definitions, Resource } from '../../resources/index.ts';
import { DEFAULT_PRIORITY, isAssignableRole, type PolicyInput } from './policy.ts';

/** A policy, by name, for a role. */
export interface RolePermissions {
  readonly policy: string;
  readonly role: AssignableRole;
}

/** Policies and role assignments that mean what the legacy `permissions` maps say. */
export interface PlannedPolicies {
  readonly policies: readonly PolicyInput[];
  readonly assignments: readonly RolePermissions[];
}

/**
 * One ROLE_BASED policy for each resource and role that its map names. The name says both and nothing else, so the same
 * policy is found again when the map has changed, and making it twice makes it once.
 */
export function policiesFromPermissions(definitions: Definitions): PlannedPolicies {
  const planned = [...definitions.values()].flatMap(planResource);
  return { policies: planned.map(({ policy }) => policy), assignments: planned.map(({ policy, role }) => ({ policy: policy.name, role })) };
}

interface Planned {
  readonly policy: PolicyInput;
  readonly role: AssignableRole;
}

function planResource(resource: Resource): readonly Planned[] {
  const actionsByRole = new Map<AssignableRole, Set<string>>();
  for (const [action, roles] of resource.permissions) {
    for (const role of roles.filter(isAssignableRole)) {
      const actions = actionsByRole.get(role) ?? new Set();
      actionsByRole.set(role, actions.add(action));
    }
  }
  return [...actionsByRole].map(([role, actions]) => ({ role, policy: toPolicy(resource.name, role, [...actions]) }));
}

function toPolicy(resource: string, role: AssignableRole, actions: readonly string[]): PolicyInput {
  return {
    name: `permissions: ${resource} for ${role}`,
    description: `What the permissions of ${resource} give to role ${role}.`,
    type: 'ROLE_BASED',
    isActive: true,
    priority: DEFAULT_PRIORITY,
    tags: ['permissions'],
    rules: actions.map((action) => ({ resource, action, effect: 'ALLOW', conditions: [], priority: DEFAULT_PRIORITY, isActive: true })),
  };
}
