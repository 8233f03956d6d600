/** The versions of policies and assignments, which a change names in If-Match. */
import { type HttpResponse, toETag, validateIfMatch } from '../../request/index.ts';
import type { AdminRequest } from './admin-endpoint.ts';

/**
 * Refuses the change of a policy or an assignment that another admin has changed since the caller read it. The transaction must
 * have locked the policy or assignment. @throws Problem RECORD_VERSION, RECORD_VERSION_REQUIRED.
 */
export function validatePolicyVersion(
  { headers: { ifMatch }, deps }: Pick<AdminRequest, 'headers' | 'deps'>,
  subject: 'policy' | 'assignment',
  version: number | undefined,
): void {
  validateIfMatch({ ifMatch, version, subject, requirement: deps.ifMatch });
}

/** Validates the version of an assignment that may not exist yet. Only the renewal of an existing assignment needs a version. */
export function validateRenewalVersion(
  { headers: { ifMatch }, deps }: Pick<AdminRequest, 'headers' | 'deps'>,
  version: number | undefined,
): void {
  validateIfMatch({ ifMatch, version, subject: 'assignment', requirement: version === undefined ? 'optional' : deps.ifMatch });
}

/** Returns the headers of a response with one policy or assignment. */
export function versionHeaders({ version }: { readonly version: number }): NonNullable<HttpResponse['headers']> {
  return { etag: toETag(version) };
}
