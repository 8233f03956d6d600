import type { AssignableRole, Definitions, Resource } from '../../resources/index.ts';
import { DEFAULT_PRIORITY, isAssignableRole, type PolicyInput } from './policy.ts';

/** A planned assignment: the name of a policy, and a role. */
export interface PlannedAssignment {
  readonly policy: string;
  readonly role: AssignableRole;
}

/** Policies and role assignments that are equivalent to the legacy `permissions` maps of definitions. */
export interface PlannedPolicies {
  readonly policies: readonly PolicyInput[];
  readonly assignments: readonly PlannedAssignment[];
}

/**
 * Returns one ROLE_BASED policy for each resource and each role in its `permissions` map. The name of a policy contains the resource and
 * the role, so that the policy is found again after the map has changed, and is created only once.
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
