import { type Issue, MAX_ISSUES, Problem } from '../../errors.ts';
import { validateIfMatch } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { lockReferences, refuseDamagedRecord, validateMove } from '../../storage/index.ts';
import type { Found, Proposal, RequestContext } from '../request-context.ts';

/** Validates that the record of the request exists. @throws Problem RECORD_UNKNOWN, or STORAGE_DAMAGED if it exists and is damaged */
export function validateRecord(context: RequestContext, found: Found): void | Promise<void> {
  return found[0] === undefined ? refuseUnknown(context) : undefined;
}

async function refuseUnknown({ tx, resource, request }: RequestContext): Promise<never> {
  if (resource.checksum && request.id !== undefined) await refuseDamagedRecord(tx, resource, request.id);
  throw new Problem('RECORD_UNKNOWN', `no ${resource.name} has this id`);
}

/** Validates that the record exists in the version of If-Match. */
export async function validateVersion(context: RequestContext, found: Found): Promise<void> {
  await validateRecord(context, found);
  const { version } = found[0] as StoredRecord;
  validateIfMatch({ ifMatch: context.request.ifMatch, version, subject: 'record', requirement: context.options.ifMatch });
}

/** Validates that the resource soft-deletes its records. @throws Problem SOFT_DELETE_DISABLED */
export async function validateSoftDelete({ resource }: RequestContext): Promise<void> {
  if (!resource.softDelete)
    throw new Problem('SOFT_DELETE_DISABLED', `${resource.name} records are deleted permanently: its definition does not set softDelete`);
}

/** Validates that a soft-deleted record exists in the version of If-Match. */
export async function validateDeleted(context: RequestContext, found: Found): Promise<void> {
  await validateSoftDelete(context);
  await validateVersion(context, found);
}

/** Validates values by the definition, that referenced records exist, and that no record becomes its own ancestor. @throws Problem VALUE_INVALID that lists every mistake */
export async function validateSubmittedValues(context: RequestContext, found: Found, proposals: readonly Proposal[]): Promise<void> {
  for (const proposal of proposals) refuseIssues(await findIssues(context, found, proposal));
}

/** Returns the mistakes in the values of a proposed record. */
export async function findIssues(context: RequestContext, found: Found, proposal: Proposal): Promise<readonly Issue[]> {
  const { tx, resource, snapshot, prefetched } = context;
  const { record, values } = proposal;
  const before = found.find(({ id }) => id === record.id);
  const moved = before === undefined ? [] : await validateMove(tx, resource, { before, values });
  return [
    ...proposal.issues,
    ...moved,
    ...(await lockReferences(tx, { resource, definitions: snapshot.definitions, found: prefetched?.found }, values)),
  ];
}

/** Refuses values with mistakes. @throws Problem VALUE_INVALID */
export function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const count = issues.length < MAX_ISSUES ? issues.length : `at least ${MAX_ISSUES}`;
  throw new Problem('VALUE_INVALID', `${count} ${issues.length === 1 ? 'value is' : 'values are'} not acceptable`, {
    errors: issues.slice(0, MAX_ISSUES),
  });
}

/** Validates an update: the version first, then the values. */
export async function validateVersionAndValues(context: RequestContext, found: Found, proposals: readonly Proposal[]): Promise<void> {
  await validateVersion(context, found);
  await validateSubmittedValues(context, found, proposals);
}
