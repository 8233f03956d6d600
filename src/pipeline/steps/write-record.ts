import { hash } from 'node:crypto';
import { revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import type { Decision } from '../../authz/decision/index.ts';
import { type Issue, MAX_ISSUES, Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { filterKey, resolveWhere } from '../../request/index.ts';
import { type StoredRecord, showRecord } from '../../resources/index.ts';
import { findMatches, insertAfterLookups, insertRecord, type MatchQuery, type RecordChange, updateRecord } from '../../storage/index.ts';
import type { Decided, Found, Proposal, RequestContext, Result } from '../request-context.ts';
import { authorizeChange, authorizeRow } from './authorize-action.ts';
import { deleteWithReferencing } from './cascade-delete.ts';
import { allowedWhere, asRead, authorizeAgain, mayRead, restrictionFor } from './decide-request.ts';
import { validateOwnPassword } from './password-changes.ts';
import { type DeletionPreview, previewDeletion } from './preview-deletion.ts';
import { valuesForUpdate } from './submitted-values.ts';
import { translateConstraints } from './translate-constraints.ts';
import { findIssues, refuseIssues, validateSubmittedValues } from './validate-record.ts';

/** Stores the proposed record. */
export async function insert(context: RequestContext, { proposals }: Decided): Promise<Result> {
  const record = await store(context, proposals[0] as Proposal);
  return { ...toResult(context, 201, record), location: `/api/${context.resource.name}/${record.id}` };
}

/**
 * Stores all records of an import or none. Each record is decided, validated and stored before the next one is decided, so that conditions on
 * related records count those before it. After a mistake, further records are only decided and validated, and the time is checked: a valid import
 * must not end for the time of its decisions.
 */
export async function insertEach(context: RequestContext, { proposals }: Decided): Promise<Result> {
  const ids: string[] = [];
  const issues: Issue[] = [];
  for (const [index, proposal] of proposals.entries()) {
    if (index > 0) await authorizeRow(context, proposals, index);
    // The response lists at most MAX_ISSUES mistakes, so the references of further records need no queries.
    if (issues.length < MAX_ISSUES) issues.push(...(await findIssues(context, [], proposal)).map((issue) => inRow(index, issue)));
    if (issues.length === 0) ids.push((await store(context, proposal)).id);
    else if (context.tx.attempt !== 'writer') await context.tx.checkTime();
  }
  refuseIssues(issues);
  return { status: 201, data: ids, extras: { count: ids.length, message: `imported ${ids.length} ${context.resource.name} records` } };
}

/** Returns an issue with its path in the body of an import. */
function inRow(index: number, issue: Issue): Issue {
  return { ...issue, path: issue.path === '' ? `data.${index}` : `data.${index}.${issue.path}` };
}

/** Stores the changes of an update. Returns the changed record, or only its id and version if the caller may not read it. */
export async function save(context: RequestContext, decided: Decided): Promise<Result> {
  const record = await storeChange(context, decided);
  if (await mayRead(context, record)) return toResult(context, 200, record);
  const { id, version } = record;
  return { status: 200, data: { id, version }, version };
}

/** Stores the changes of an update and returns the changed record. */
export async function storeChange(
  context: RequestContext,
  { found, proposals }: Pick<Decided, 'found' | 'proposals'>,
): Promise<StoredRecord> {
  const before = found[0] as StoredRecord;
  const proposal = proposals[0] as Proposal;
  const { record, values, cleared } = proposal;
  await applyUserChange(context, proposal);
  const change: RecordChange = {
    id: before.id,
    version: before.version,
    values: hashPasswords(context, values),
    cleared,
    now: context.tx.now,
    unlocked: context.prefetched?.row === undefined ? undefined : record,
  };
  if (!(await translateConstraints(context, () => updateRecord(context.tx, context.resource, change))))
    throw new Problem('RECORD_VERSION', 'another request has changed the record in the meantime');
  return record;
}

/** Deletes the record, and treats the records that reference it by their definitions. A dry run returns what the deletion would do. */
export async function remove(context: RequestContext, { found }: Decided): Promise<Result> {
  const record = found[0] as StoredRecord;
  if (context.request.dryRun) return toPreviewResult(await previewDeletion(context, { resource: context.resource, id: record.id }));
  await translateConstraints(context, () => deleteWithReferencing(context, { resource: context.resource, id: record.id }));
  return { status: 200, data: { id: record.id }, extras: { message: `deleted ${context.resource.name} ${record.id}` } };
}

/** Stores the proposed record. If the filter matches a record that the caller may read, stores nothing and returns the matching record. */
export async function insertUnlessMatched(context: RequestContext, decided: Decided): Promise<Result> {
  const [match] = await findReadable(context, decided.secondDecision as Decision);
  if (match !== undefined) {
    await authorizeAgain(asRead(context), { record: match, recordId: match.id, action: 'read' });
    return { ...toResult(context, 200, match), extras: { created: false } };
  }
  await validateSubmittedValues(context, [], decided.proposals);
  return { ...(await insert(context, decided)), extras: { created: true } };
}

/** Updates the one record that the filter matches and the caller may read. @throws Problem RECORD_AMBIGUOUS if it matches several */
export async function saveMatch(context: RequestContext, { secondDecision }: Decided): Promise<Result> {
  const found = await findReadable(context, secondDecision as Decision);
  const [match] = found;
  if (match === undefined) return { status: 200, data: null, extras: { updated: false } };
  if (found.length > 1)
    throw new Problem('RECORD_AMBIGUOUS', `the filter matches several ${context.resource.name} records, none was changed`);
  const stored = { record: match, recordId: match.id };
  await authorizeAgain(asRead(context), { ...stored, action: 'read' });
  const decision = await authorizeAgain(context, stored);
  const decided = { found, proposals: valuesForUpdate(context, found), decision };
  await validateSubmittedValues(context, found, decided.proposals);
  await authorizeChange(context, decided);
  return { ...(await save(context, decided)), extras: { updated: true } };
}

/** Finds records that match the filter and that the caller may read: at most one for a create, and two for an update, to detect an ambiguous filter. */
async function findReadable(context: RequestContext, reading: Decision): Promise<Found> {
  const { tx, resource, snapshot, options, budget, request } = context;
  const filter = resolveWhere(resource, request.filter ?? [], { typed: true, member: 'filter' });
  const creates = request.action === 'createIfNotExists';
  const query: MatchQuery = {
    filter,
    readable: await restrictionFor(asRead(context), { resource, action: 'read', where: allowedWhere(reading) }),
    definitions: snapshot.definitions,
    timeZone: options.timeZone,
    limit: creates ? 1 : 2,
    budget,
    toChange: !creates,
  };
  if (!creates) return findMatches(tx, resource, query);
  // Locking ends a long attempt, so a search that takes long and finds a record has to come before.
  const found = tx.attempt === 'writer' ? [] : await findMatches(tx, resource, query);
  if (found.length > 0) return found;
  // Of concurrent creates with the same filter, the first creates and the others find its record. The name of the lock does not depend
  // on the caller's policies.
  await tx.lock(`${resource.name} ${hash('sha256', filterKey(resource, filter), 'base64url')}`);
  return findMatches(tx, resource, query);
}

async function store(context: RequestContext, { record, values }: Proposal): Promise<StoredRecord> {
  const { tx, resource, prefetched, snapshot } = context;
  const found = tx.canBeOptimistic ? prefetched?.found : undefined;
  const stored = { ...record, ...hashPasswords(context, values) };
  await translateConstraints(context, () =>
    found === undefined
      ? insertRecord(tx, resource, stored)
      : insertAfterLookups(tx, resource, { record: stored, definitions: snapshot.definitions, found }),
  );
  return record;
}

/** Applies the rules of user changes: users prove their current password to change it, an active admin must remain, and some changes end the user's sessions. */
async function applyUserChange(context: RequestContext, proposal: Proposal): Promise<void> {
  const { record, values, cleared } = proposal;
  if (context.resource.name !== 'User') return;
  await validateOwnPassword(context, proposal);
  const removesPassword = cleared.includes('password');
  const state = { role: String(record['role']), isActive: record['isActive'] === true, removesPassword };
  await validateAdminRemains(context.tx, { userId: record.id, ...state });
  const hasNewPassword = Object.hasOwn(values, 'password') || removesPassword;
  if (hasNewPassword || record['isActive'] !== true) await revokeSessions(context.tx, record.id, context.keptSession);
}

function hashPasswords(context: RequestContext, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const entries = Object.entries(values).map(([name, value]): [string, Json] => {
    const isPassword = context.resource.fields.get(name)?.type === 'password' && typeof value === 'string';
    return [name, isPassword ? context.hashes.of(value) : value];
  });
  return Object.fromEntries(entries);
}

function toPreviewResult(preview: DeletionPreview): Result {
  const outcome = preview.problem === undefined ? 'the deletion would succeed' : `the deletion would fail: ${preview.problem.detail}`;
  return { status: 200, data: preview, extras: { message: `a dry run, nothing was deleted; ${outcome}` } };
}

/** Returns the result for a record, with its version. */
function toResult(context: RequestContext, status: number, record: StoredRecord): Result {
  return { status, data: showRecord(context.resource, record), version: record.version };
}
