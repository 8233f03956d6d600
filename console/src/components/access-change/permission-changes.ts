/** The permissions that a draft changes: what it denies, what it allows, and what depends on other conditions. */
import type { Schemas } from '../../api/client.ts';

/** A decision for a resource and an action. */
export type Permission = Schemas['admin.Permission'];

/** A permission that is decided otherwise under a draft. */
export interface PermissionChange {
  readonly before: Permission;
  readonly after: Permission;
}

/** Changes by their consequence. */
export interface PermissionChanges {
  /** Actions that are denied under the draft. */
  readonly denied: readonly PermissionChange[];
  /** Actions that were denied, and are allowed under the draft, at least under conditions. */
  readonly allowed: readonly PermissionChange[];
  /** Actions that depend on other conditions than before, or on conditions only before or only after. */
  readonly conditional: readonly PermissionChange[];
}

/** Compares the permissions of a user or role without and with a draft. A permission that only one side has is no change. */
export function comparePermissions(before: readonly Permission[], after: readonly Permission[]): PermissionChanges {
  const keyOf = ({ resource, action }: Permission): string => `${resource} ${action}`;
  const drafted = new Map(after.map((permission) => [keyOf(permission), permission]));
  const changes = before.flatMap((present): readonly PermissionChange[] => {
    const next = drafted.get(keyOf(present));
    return next === undefined || isSameDecision(present, next) ? [] : [{ before: present, after: next }];
  });
  return {
    denied: changes.filter((change) => change.after.effect === 'deny'),
    allowed: changes.filter((change) => change.before.effect === 'deny'),
    conditional: changes.filter((change) => change.before.effect !== 'deny' && change.after.effect !== 'deny'),
  };
}

/** Returns true if two decisions are the same for a caller. Other rules with the same effect and the same remaining condition change nothing. */
export function isSameDecision(a: Permission, b: Permission): boolean {
  return a.effect === b.effect && a.when === b.when;
}

/** Name of the resource of rules about the audit log. Lists of permissions do not have it. */
export const AUDIT_LOG = '_Decision';

/** Returns the resources that rules name; undefined for all, if a rule names `*` or is not readable. */
export function resourcesOf(rules: readonly unknown[]): readonly string[] | undefined {
  const names = rules.map((rule) =>
    typeof rule === 'object' && rule !== null ? (rule as { readonly resource?: unknown }).resource : undefined,
  );
  if (names.some((name) => typeof name !== 'string' || name === '*')) return undefined;
  return [...new Set(names as readonly string[])];
}
