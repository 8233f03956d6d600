import { RULE_ACTIONS } from '../actions.ts';
import { describeValue, isObject, type Json } from '../operators/index.ts';
import { describeType, type Report } from './mistake.ts';
import { quote, suggest } from './names.ts';
import { ASSIGNABLE_ROLES } from './roles.ts';

/** Reads the legacy `permissions` of a definition: action name → roles. */
export function readPermissions(source: Json | undefined, report: Report): ReadonlyMap<string, readonly string[]> {
  const permissions = new Map<string, readonly string[]>();
  if (source === undefined) return permissions;
  if (!isObject(source)) {
    report(['permissions'], `expected an object of action names and lists of roles, given ${describeType(source)}`);
    return permissions;
  }
  for (const [action, roles] of Object.entries(source)) {
    const path = ['permissions', action];
    if (!(RULE_ACTIONS as readonly string[]).includes(action)) {
      report(path, `unknown action ${quote(action)}${suggest(action, RULE_ACTIONS)}`, 'key');
    }
    if (!Array.isArray(roles)) report(path, `expected a list of roles, given ${describeType(roles)}`);
    else permissions.set(action, readRoles(roles, path, report));
  }
  return permissions;
}

function readRoles(roles: readonly Json[], path: readonly string[], report: Report): readonly string[] {
  const known: readonly string[] = ASSIGNABLE_ROLES;
  for (const [at, role] of roles.entries()) {
    if (typeof role === 'string' && known.includes(role)) continue;
    report([...path, at], `unknown role ${describeValue(role)}${suggest(String(role), known)}`);
  }
  return Object.freeze([...new Set(roles.map(String))]);
}
