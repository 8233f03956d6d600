/** Admission to the admin endpoints: of admins to all, and of auditors to those that show the audit log. */
import { ADMIN_RESOURCE, appendEntry } from '../../audit/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { AUDIT_LOG_NAME, type CompiledRule } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { Transaction } from '../../storage/index.ts';
import { type RequestInfo, toAdminEntry } from './admin-entry.ts';
import { type AuditAction, type Auditor, type AuditorQuestion, decideForAuditor, evaluateAuditRight } from './auditor.ts';

/** An identified caller with an id. */
export type KnownPrincipal = Principal & { readonly id: string };

/** An admitted caller. */
export interface AdmittedCaller {
  readonly admin: KnownPrincipal;
  /** The right by which the caller was admitted; absent for an admin. */
  readonly auditor?: Auditor | undefined;
}

/** The caller of a request, admitted at a revision of the policies. */
export interface AdmittedRequest extends AdmittedCaller {
  readonly snapshot: Snapshot;
}

/** The request, its caller, and the right that the endpoint requires of users who are not admins. */
export interface CallerAdmission {
  readonly info: RequestInfo;
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  /** The action on the audit log; absent if the endpoint is for admins only. */
  readonly auditorAction: AuditAction | undefined;
  readonly timeZone: string;
}

/** Admits an admin, or an auditor if the endpoint shows the audit log. Returns a problem like `admitAdmin`. */
export async function admitCaller(tx: Transaction, { auditorAction, ...admission }: CallerAdmission): Promise<AdmittedCaller | Problem> {
  const { info, principal } = admission;
  if (auditorAction !== undefined && principal.id !== undefined && principal.role !== 'admin') {
    const decided = await decideForAuditor(tx, { ...admission, action: auditorAction });
    if (decided instanceof Problem) return decided;
    if (decided !== undefined) return { admin: { ...principal, id: principal.id }, auditor: decided };
  }
  const admin = await admitRole(tx, { info, principal, auditorAction });
  return admin instanceof Problem ? admin : { admin };
}

/** The decision about an action of a caller on the audit log. */
export interface OwnAuditRight {
  readonly effect: 'allow' | 'deny' | 'conditional';
  readonly reason: string;
  /** The rule that decides; absent if none does. */
  readonly rule?: CompiledRule;
}

/** Decides an action on the audit log as `admitCaller` does, without an audit entry. */
export async function decideAuditRight(tx: Transaction, question: AuditorQuestion): Promise<OwnAuditRight> {
  const { id, role } = question.principal;
  if (id === undefined) return { effect: 'deny', reason: ADMIN_TOKEN_REQUIRED };
  if (role === 'admin') return { effect: 'allow', reason: 'role admin' };
  const { effect, reason, rule } = (await evaluateAuditRight(tx, question)) ?? { effect: 'deny', reason: notAdmin(role, question.action) };
  return { effect, reason, ...(rule !== undefined && { rule }) };
}

const ADMIN_TOKEN_REQUIRED = 'the admin endpoints require an admin bearer token';

function notAdmin(role: string, action?: AuditAction): string {
  return `role ${role} is not admin${action === undefined ? '' : `, and no rule names ${action} on the resource ${AUDIT_LOG_NAME}`}`;
}

/** Returns the admin, or the problem for another user. The problem is not thrown, because that would roll back its audit entry. */
export function admitAdmin(tx: Transaction, info: RequestInfo, principal: Principal): Promise<KnownPrincipal | Problem> {
  return admitRole(tx, { info, principal, auditorAction: undefined });
}

type RoleAdmission = Pick<CallerAdmission, 'info' | 'principal' | 'auditorAction'>;

async function admitRole(tx: Transaction, { info, principal, auditorAction }: RoleAdmission): Promise<KnownPrincipal | Problem> {
  const { id, role } = principal;
  if (id === undefined) throw new Problem('IDENTITY_REQUIRED', ADMIN_TOKEN_REQUIRED);
  if (role === 'admin') return { ...principal, id };
  const reason = notAdmin(role, auditorAction);
  const entry = toAdminEntry(info, principal, {
    now: tx.now,
    allowed: false,
    resource: ADMIN_RESOURCE,
    action: info.operation,
    reason,
    recordId: undefined,
    epoch: 0,
  });
  appendEntry(tx, entry);
  return new Problem('ACCESS_ADMIN', reason, { decisionId: entry.id });
}
