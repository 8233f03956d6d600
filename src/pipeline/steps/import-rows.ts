import { UNRESOLVED } from '../../conditions/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { resolveWhere } from '../../request/index.ts';
import { type Resource, type ResourceIndex, resolveField, type StoredRecord, toStoredValue } from '../../resources/index.ts';
import { findMatches } from '../../storage/index.ts';
import type { Proposal, RequestContext } from '../request-context.ts';
import { authorizeChange, authorizeRecord } from './authorize-action.ts';
import { authorize, decideOn, mayRead } from './decide-request.ts';
import { valuesForCreate, valuesForRow } from './submitted-values.ts';
import { validateRecord, validateSubmittedValues } from './validate-record.ts';
import { insert, storeChange } from './write-record.ts';

/** The result of a row of an import. */
export type RowResult = 'imported' | 'updated' | 'unchanged';

/** Options of one row. */
export interface RowOptions {
  /** The unique field by which a row updates a stored record. Without it, every row creates a record. */
  readonly key: string | undefined;
  /** Mistakes found when the row was parsed. The response contains mistakes in values only if the caller is allowed to store the row. */
  readonly issues: readonly Issue[];
}

/**
 * Refuses a caller who may not import any record, before the first row is read. A refusal adds one audit entry, decided on a record without
 * attributes. Otherwise adds no audit entry, because every row adds its own.
 */
export async function authorizeAnyRow(context: RequestContext): Promise<void> {
  const decision = await decideOn(context, { record: UNRESOLVED, action: 'import', dataIsOpen: true });
  context.entries.pop();
  if (decision.effect === 'deny') await authorize(context, { record: undefined, action: 'import' });
}

/** Validates that the key of an upsert is a unique field. Unknown and write-only fields are refused alike. */
export function validateKey(resource: Resource, key: string): void {
  const field = resolveField(resource, key, 'filter');
  const isUnique = field.unique || field.name === 'id' || resource.indexes.some((index) => isUniqueAlone(index, key));
  if (isUnique) return;
  throw new Problem('REQUEST_PARAMETER', `key: expected a unique field, given "${key}", which several records may share`);
}

/** Returns true if the index makes the field unique in all records. A partial index does not, because it covers only some records. */
function isUniqueAlone({ unique, fields, where }: ResourceIndex, name: string): boolean {
  return unique && where === undefined && fields.length === 1 && fields[0] === name;
}

/** Imports one row: updates the record that has its key, or creates a record. The row is the data of the context's request. */
export async function importRow(context: RequestContext, { key, issues }: RowOptions): Promise<RowResult> {
  const data = withoutReadOnly(context.resource, context.request.data);
  const match = key === undefined ? undefined : await findByKey(context, data, key);
  if (match !== undefined)
    return updateRow({ ...context, request: { ...context.request, action: 'update', id: match.id, data } }, match, { key, issues });
  // The service assigns ids, so a row with an unknown id cannot create a record with that id.
  if (key === 'id' && ownValue(context.request.data, 'id') !== undefined) await refuseUnknown(context);
  return createRow({ ...context, request: { ...context.request, action: 'create', data } }, issues);
}

/** Creates a record. Decides `import` on the record that would be stored. */
async function createRow(context: RequestContext, issues: readonly Issue[]): Promise<RowResult> {
  const proposals = valuesForCreate(context).map((proposal) => withIssues(proposal, issues));
  const decision = await authorize(context, { record: proposals[0]?.record, action: 'import' });
  await validateSubmittedValues(context, [], proposals);
  await insert(context, { found: [], proposals, decision });
  return 'imported';
}

/**
 * Updates a record. Needs two decisions: `import` on the record that would be stored, and `update` like any update. With `import`
 * alone, a caller could overwrite records that they may not update; with `update` alone, they could import what they may not import.
 */
async function updateRow(context: RequestContext, match: StoredRecord, { key, issues }: RowOptions): Promise<RowResult> {
  const found = [match];
  // Reports a row as unchanged only to callers who may read the record: otherwise a dry run would confirm guesses of stored values.
  const isReadable = await mayRead(context, match);
  const given = withoutRepeated(context.resource, { data: context.request.data, match, key, isReadable });
  const proposals = valuesForRow({ ...context, request: { ...context.request, data: given } }, found).map((each) =>
    withIssues(each, issues),
  );
  await authorize(context, { record: proposals[0]?.record, recordId: match.id, action: 'import', isChangedRecord: true });
  const decision = await authorizeRecord(context, found);
  await validateSubmittedValues(context, found, proposals);
  const decided = { found, proposals, decision };
  await authorizeChange(context, decided);
  if (isReadable && proposals.every((proposal) => changesNothing(context.resource, proposal, match))) return 'unchanged';
  await storeChange(context, decided);
  return 'updated';
}

/** Refuses a row with an unknown id like an update of a record that does not exist: with the same decisions, entries and problem. */
async function refuseUnknown(context: RequestContext): Promise<never> {
  // Paths refuse ids with control characters, which could forge lines of the audit log. A row is recorded, so its id is without them.
  const id = String(ownValue(context.request.data, 'id'))
    .slice(0, 64)
    .replace(/\p{Cc}/gu, '\ufffd');
  const asUpdate: RequestContext = { ...context, request: { ...context.request, action: 'update', id } };
  await authorize(asUpdate, { record: undefined, recordId: id, action: 'import' });
  await authorizeRecord(asUpdate, []);
  await validateRecord(asUpdate, []);
  throw new Error('expected validateRecord to refuse a record that does not exist');
}

async function findByKey(context: RequestContext, data: Json, key: string): Promise<StoredRecord | undefined> {
  const value = ownValue(key === 'id' ? context.request.data : data, key);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const filter = parseKeyFilter(context.resource, key, value);
  if (filter === undefined) return undefined;
  // If two imports bring the same new key at once, the second finds the record of the first. One lock serves all keys, because no
  // database holds a million locks.
  await context.tx.lock(`import ${context.resource.name}`);
  const [match] = await findMatches(context.tx, context.resource, {
    filter,
    limit: 1,
    isIndexed: true,
    budget: context.budget,
    toChange: true,
  });
  return match;
}

/** Returns the filter for records with this key; undefined for a value that the field cannot have, because the validation of values reports it later. */
function parseKeyFilter(resource: Resource, key: string, value: Json): ReturnType<typeof resolveWhere> | undefined {
  try {
    return resolveWhere(resource, [{ field: key, operator: 'eq', value }], { typed: true, member: 'filter' });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Returns a row without the fields that the service sets, which exported rows contain. Returns a row that is not an object unchanged; a later step refuses the row. */
function withoutReadOnly(resource: Resource, data: Json | undefined): Json {
  if (!isObject(data)) return data ?? null;
  return Object.fromEntries(Object.entries(data).filter(([name]) => resource.fields.get(name)?.readOnly !== true));
}

interface MatchedRow {
  readonly data: Json | undefined;
  readonly match: StoredRecord;
  readonly key: string | undefined;
  /** True if the caller may read the stored record. */
  readonly isReadable: boolean;
}

/** Returns a row without the values that repeat the stored record: the key, and immutable and guarded values, in any form, if the caller may read them. */
function withoutRepeated(resource: Resource, { data, match, key, isReadable }: MatchedRow): Json {
  if (!isObject(data)) return data ?? null;
  const repeats = ([name, value]: readonly [string, Json]): boolean => {
    if (name === key) return true;
    const field = resource.fields.get(name);
    if (!isReadable || field === undefined || !(field.immutable || field.guarded)) return false;
    return isSame(toStoredValue(field, value), match[name]);
  };
  return Object.fromEntries(Object.entries(data).filter((entry) => !repeats(entry)));
}

/** Returns true if all values equal the stored values. Write-only fields are not loaded, so a row with a write-only field always counts as a change. */
function changesNothing({ fields }: Resource, { values, cleared }: Proposal, before: JsonObject): boolean {
  return (
    Object.entries(values).every(([name, value]) => isSame(value, before[name])) &&
    cleared.every((name) => before[name] === undefined && fields.get(name)?.writeOnly !== true)
  );
}

/** Returns true if a value, as it would be stored, equals the stored value. An exported row has null for a field without a value. */
function isSame(value: Json, before: Json | undefined): boolean {
  return JSON.stringify(value) === JSON.stringify(before ?? null);
}

/** Returns a proposal with the mistakes of the parsed row, which replace other mistakes of the same path: a value that could not be parsed is not also missing. */
function withIssues(proposal: Proposal, issues: readonly Issue[]): Proposal {
  if (issues.length === 0) return proposal;
  const reported = new Set(issues.map(({ path }) => path));
  return { ...proposal, issues: [...issues, ...proposal.issues.filter(({ path }) => !reported.has(path))] };
}
