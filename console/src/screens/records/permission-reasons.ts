/** The reasons why a caller may not perform actions on a record. */
import type { Schemas } from '../../api/client.ts';

type Permission = Schemas['api.OwnPermission'];

/** A reason, and the actions that it refuses or makes conditional. */
export interface PermissionReason {
  readonly reason: string;
  readonly actions: readonly Permission['action'][];
}

/** Returns each reason once, with its actions. Allowed actions need none. */
export function reasonsOf(permissions: readonly Permission[]): readonly PermissionReason[] {
  const others = permissions.filter(({ effect }) => effect !== 'allow');
  const reasons = [...new Set(others.map(({ reason }) => reason))];
  return reasons.map((reason) => ({ reason, actions: others.filter((each) => each.reason === reason).map(({ action }) => action) }));
}
