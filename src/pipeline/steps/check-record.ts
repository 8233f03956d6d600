import { type Issue, Problem } from '../../errors.ts';
import { checkIfMatch } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { lockReferences } from '../../storage/index.ts';
import type { Found, Proposal, RequestContext } from '../request-context.ts';

/** For actions that neither name a record nor bring values. */
export async function validateNothing(): Promise<void> {}

/** For actions on one stored record: it exists. */
export async function validateRecord(context: RequestContext, found: Found): Promise<void> {
  if (found[0] === undefined) throw new Problem('RECORD_UNKNOWN', `no ${context.resource.name} has this id`);
}

/** Checks, for actions that change one record, that it exists in the version that If-Match names. */
export async function validateVersion(context: RequestContext, found: Found): Promise<void> {
  await validateRecord(context, found);
  const { version } = found[0] as StoredRecord;
  checkIfMatch({ ifMatch: context.request.ifMatch, version, what: 'record', setting: context.options.ifMatch });
}

/** For actions on deleted records: the resource keeps them. */
export async function validateSoftDelete({ resource }: RequestContext): Promise<void> {
  if (!resource.softDelete) throw new Problem('RESOURCE_NO_BIN', `${resource.name} records that are deleted are gone for good`);
}

/** For actions that change a deleted one: it is kept, and the version that If-Match names. */
export async function validateDeleted(context: RequestContext, found: Found): Promise<void> {
  await validateSoftDelete(context);
  await validateVersion(context, found);
}

/** For actions that bring values: they fit the definition and refer to records that exist. Every mistake is listed. */
export async function validateSubmittedValues(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<void> {
  const issues: Issue[] = [];
  for (const [index, proposal] of proposals.entries()) {
    // Nobody reads more, however many records were sent.
    if (issues.length >= MOST_ISSUES) break;
    issues.push(...proposal.issues);
    const prefix = proposals.length > 1 || context.request.action === 'import' ? `data.${index}.` : '';
    const dangling = await lockReferences(
      context.tx,
      { resource: context.resource, definitions: context.snapshot.definitions },
      proposal.values,
    );
    issues.push(...dangling.map((issue) => ({ ...issue, path: `${prefix}${issue.path}` })));
  }
  if (issues.length === 0) return;
  const count = issues.length < MOST_ISSUES ? issues.length : `at least ${MOST_ISSUES}`;
  throw new Problem('VALUE_INVALID', `${count} ${issues.length === 1 ? 'value is' : 'values are'} not acceptable`, {
    errors: issues.slice(0, MOST_ISSUES),
  });
}

/** Mistakes that one answer lists. */
export const MOST_ISSUES = 100;

/** Both. */
export async function validateVersionAndValues(context: RequestContext, found: Found, proposals: readonly Proposal[]): Promise<void> {
  await validateVersion(context, found);
  await validateSubmittedValues(context, found, proposals);
}
