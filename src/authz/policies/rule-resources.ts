import type { RuleAction } from '../../actions.ts';

/** The system resource that rules can name: the audit log. Its records are the audit entries. */
export const AUDIT_LOG_NAME = '_Decision';

/** The actions on the audit log: `read` for searches and single entries, `export` for exports. */
export const AUDIT_ACTIONS = ['read', 'export'] as const satisfies readonly RuleAction[];

/** Returns true if a rule that names `named` applies to a resource. `*` does not include the audit log, so a rule about all resources shows no audit entry. */
export function coversResource(named: string, resource: string): boolean {
  return named === resource || (named === '*' && resource !== AUDIT_LOG_NAME);
}
