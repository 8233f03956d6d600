import { checkIfMatch, type HttpResponse, parseIfMatch, toETag } from '../request/index.ts';
import type { AdminCall } from './admin-endpoint.ts';

/**
 * Refuses the change of a policy or an assignment that another admin has changed since the caller read it. Called once the transaction
 * holds what it is about to change. Throws REQUEST_MALFORMED, RECORD_VERSION, RECORD_VERSION_REQUIRED.
 */
export function validatePolicyVersion({ call, parts }: AdminCall, what: 'policy' | 'assignment', version: number | undefined): void {
  checkIfMatch({ ifMatch: parseIfMatch(call.header('if-match')), version, what, setting: parts.ifMatch });
}

/** Checks the version for an assignment that may not exist yet: only the renewal of an assignment that has ended must name a version. */
export function checkRenewal(admin: AdminCall, version: number | undefined): void {
  const setting = version === undefined ? 'optional' : admin.parts.ifMatch;
  checkIfMatch({ ifMatch: parseIfMatch(admin.call.header('if-match')), version, what: 'assignment', setting });
}

/** The headers of an answer with one policy or assignment. */
export function versionHeaders({ version }: { readonly version: number }): NonNullable<HttpResponse['headers']> {
  return { etag: toETag(version) };
}
