/** Admission to the admin endpoints: of admins to all, and of auditors to those that show the audit log. */
import type { RuleAction } from '../../actions.ts';
import { appendEntry } from '../../audit/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { Problem } from '../../errors.ts';
import type { Transaction } from '../../storage/index.ts';
import { ADMIN, type RequestInfo, toAdminEntry } from './admin-entry.ts';
import { type Auditor, decideForAuditor } from './auditor.ts';

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
  readonly auditorAction: RuleAction | undefined;
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
  const admin = await admitAdmin(tx, info, principal);
  return admin instanceof Problem ? admin : { admin };
}

/** Returns the admin, or the problem for another user. The problem is not thrown, because that would roll back its audit entry. */
export async function admitAdmin(tx: Transaction, info: RequestInfo, principal: Principal): Promise<KnownPrincipal | Problem> {
  const { id, role } = principal;
  if (id === undefined) throw new Problem('IDENTITY_REQUIRED', 'the admin endpoints require an admin bearer token');
  if (role === 'admin') return { ...principal, id };
  const reason = `role ${role} is not admin`;
  const entry = toAdminEntry(info, principal, {
    now: tx.now,
    allowed: false,
    resource: ADMIN,
    action: info.operation,
    reason,
    recordId: undefined,
    epoch: 0,
  });
  await appendEntry(tx, entry);
  return new Problem('ACCESS_ADMIN', reason, { decisionId: entry.id });
}
