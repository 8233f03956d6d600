/**
 * Admission to `/admin/api`: admins are admitted by their role, auditors by a rule on `_Decision`. Every refusal leaves an audit entry.
 *
 * Begin with `admit-caller.ts`, then `auditor.ts`.
 */
export { type RequestInfo, toAdminEntry } from './admin-entry.ts';
export {
  type AdmittedRequest,
  admitAdmin,
  admitCaller,
  decideAuditRight,
  type KnownPrincipal,
  type OwnAuditRight,
} from './admit-caller.ts';
export { type AuditAction, type Auditor, withoutFacts } from './auditor.ts';
