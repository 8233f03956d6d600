import { type AuditEntry, createEntryId } from '../../audit/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { HttpRequest } from '../../request/index.ts';

/** The parts of a request that the audit entry of a denial names. */
export interface RequestInfo extends Pick<HttpRequest, 'origin'> {
  /** Id of the operation, without the prefix `admin.`. */
  readonly operation: string;
}

/** The members of an audit entry that are not those of the request and its caller. */
export interface AdminEntryInput {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly kind?: AuditEntry['kind'];
  readonly allowed: boolean;
  readonly resource: string;
  readonly action: string;
  readonly reason: string;
  readonly recordId?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly policyId?: string | undefined;
  readonly epoch: number;
  readonly facts?: JsonObject | undefined;
}

/** Creates the audit entry of a request to an admin endpoint. Its kind is `admin` by default. */
export function toAdminEntry(
  { origin }: Pick<HttpRequest, 'origin'>,
  principal: Principal,
  { now, kind = 'admin', ...input }: AdminEntryInput,
): AuditEntry {
  return {
    ...input,
    id: createEntryId(),
    at: new Date(now).toISOString(),
    kind,
    userId: principal.id,
    role: principal.role,
    requestId: origin.requestId,
    ip: origin.ip,
  };
}
