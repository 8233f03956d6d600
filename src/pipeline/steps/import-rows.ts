import { UNRESOLVED } from '../../conditions/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { resolveWhere } from '../../request/index.ts';
import { type Resource, type ResourceIndex, resolveField, type StoredRecord } from '../../resources/index.ts';
import { findMatches } from '../../storage/index.ts';
import type { Proposal, RequestContext } from '../request-context.ts';
import { validateRecord, validateSubmittedValues } from './check-record.ts';
import { decideChanged, decideOn, decideOrRefuse, decideRecord, mayRead } from './decide-request.ts';
import { valuesForCreate, valuesForRow } from './submitted-values.ts';
import { insert, storeChange } from './write-record.ts';

/** What a row of an import came to. */
export type RowDone = 'imported' | 'updated' | 'unchanged';

/** How a row is taken. */
export interface RowOptions {
  /** The unique field that says which stored record a row is about; without it, every row is a new record. */
  readonly key: string | undefined;
  /** What was found wrong with the row when it was read; told, as everything about values, only to who is allowed. */
  readonly issues: readonly Issue[];
}

/**
 * Refuses who could import nothing, whatever the rows are: before any is read. Who is refused leaves one entry, decided as
 * on a record without attributes; who is not leaves none here, but one for each row.
 */
export async function decideAnyRow(context: RequestContext): Promise<void> {
  const decision = await decideOn(context, { record: UNRESOLVED, action: 'import', dataIsOpen: true });
  context.entries.pop();
  if (decision.effect === 'deny') await decideOrRefuse(context, { record: undefined, action: 'import' });
}

/** Refuses a key that does not tell records apart. Unknown and secret fields are answered alike. */
export function checkKey(resource: Resource, key: string): void {
  const field = resolveField(resource, key, 'filter');
  const isUnique = field.unique || field.name === 'id' || resource.indexes.some((index) => isUniqueAlone(index, key));
  if (isUnique) return;
  throw new Problem('REQUEST_PARAMETER', `key: expected a field that is unique, given "${key}", which several records may have alike`);
}

/** One that holds some records only says nothing of the others. */
function isUniqueAlone({ unique, fields, where }: ResourceIndex, name: string): boolean {
  return unique && where === undefined && fields.length === 1 && fields[0] === name;
}

/** One row: the create that it would be, or the update of the record that has its key. The context's request has its data. */
export async function importRow(context: RequestContext, { key, issues }: RowOptions): Promise<RowDone> {
  const data = withoutOwn(context.resource, context.request.data);
  const match = key === undefined ? undefined : await findByKey(context, data, key);
  if (match !== undefined)
    return updateRow({ ...context, request: { ...context.request, action: 'update', id: match.id, data } }, match, { key, issues });
  // An id is never taken from outside: one that no record has would become another.
  if (key === 'id' && ownValue(context.request.data, 'id') !== undefined) await refuseUnknown(context);
  return createRow({ ...context, request: { ...context.request, action: 'create', data } }, issues);
}

/** Decided under `import`, on the record as the create would make it. */
async function createRow(context: RequestContext, issues: readonly Issue[]): Promise<RowDone> {
  const proposals = valuesForCreate(context).map((proposal) => withIssues(proposal, issues));
  const decision = await decideOrRefuse(context, { record: proposals[0]?.record, action: 'import' });
  await validateSubmittedValues(context, [], proposals);
  await insert(context, { found: [], proposals, decision });
  return 'imported';
}

/**
 * Decided twice: under `import`, on the record as it would become, and as any update of it is. Either alone would be a way
 * around the other: who may only import could overwrite, and what may not be imported could be by way of an update.
 */
async function updateRow(context: RequestContext, match: StoredRecord, { key, issues }: RowOptions): Promise<RowDone> {
  const found = [match];
  // Values that are the stored ones are recognized only for callers who may read them: otherwise a dry run would confirm guesses.
  const isReadable = await mayRead(context, match);
  const given = withoutRepeated(context.resource, { data: context.request.data, match, key, isReadable });
  const proposals = valuesForRow({ ...context, request: { ...context.request, data: given } }, found).map((each) =>
    withIssues(each, issues),
  );
  await decideOrRefuse(context, { record: proposals[0]?.record, recordId: match.id, action: 'import' });
  const decision = await decideRecord(context, found);
  await validateSubmittedValues(context, found, proposals);
  const decided = { found, proposals, decision };
  await decideChanged(context, decided);
  if (isReadable && proposals.every((proposal) => changesNothing(proposal, match))) return 'unchanged';
  await storeChange(context, decided);
  return 'updated';
}

/** In the words, and after the decision, of an update of a record that is not there. */
async function refuseUnknown(context: RequestContext): Promise<never> {
  const id = String(ownValue(context.request.data, 'id')).slice(0, 64);
  const asUpdate: RequestContext = { ...context, request: { ...context.request, action: 'update', id } };
  await decideOrRefuse(asUpdate, { record: undefined, recordId: id, action: 'import' });
  await decideRecord(asUpdate, []);
  await validateRecord(asUpdate, []);
  throw new Error('a record that is not there was found');
}

async function findByKey(context: RequestContext, data: Json, key: string): Promise<StoredRecord | undefined> {
  const value = ownValue(key === 'id' ? context.request.data : data, key);
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const filter = readKeyFilter(context.resource, key, value);
  if (filter === undefined) return undefined;
  // Of two that bring a new key at once, the second finds it. One name for all keys: no database holds a million of them.
  await context.tx.lock(`import ${context.resource.name}`);
  const [match] = await findMatches(context.tx, context.resource, { filter, limit: 1, toChange: true });
  return match;
}

/** Undefined where the value is none that the field could have: the check of values says so, after the decision. */
function readKeyFilter(resource: Resource, key: string, value: Json): ReturnType<typeof resolveWhere> | undefined {
  try {
    return resolveWhere(resource, [{ field: key, operator: 'eq', value }], { typed: true, member: 'filter' });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** What the service sets itself is passed over: an export brings it along. Anything that is no object stays, to be refused as one. */
function withoutOwn(resource: Resource, data: Json | undefined): Json {
  if (!isObject(data)) return data ?? null;
  return Object.fromEntries(Object.entries(data).filter(([name]) => resource.fields.get(name)?.readOnly !== true));
}

interface Repeated {
  readonly data: Json | undefined;
  readonly match: StoredRecord;
  readonly key: string | undefined;
  /** True if the caller may read the stored record. */
  readonly isReadable: boolean;
}

/** Leaves out what repeats the stored record: its key, and, if the caller may read them, values that are never changed. */
function withoutRepeated(resource: Resource, { data, match, key, isReadable }: Repeated): Json {
  if (!isObject(data)) return data ?? null;
  const repeats = ([name, value]: readonly [string, Json]): boolean =>
    name === key || (isReadable && resource.fields.get(name)?.immutable === true && isSame(value, match[name]));
  return Object.fromEntries(Object.entries(data).filter((entry) => !repeats(entry)));
}

/** A secret is not among what is loaded: given anew, it counts as changed. */
function changesNothing({ values, cleared }: Proposal, before: JsonObject): boolean {
  return (
    Object.entries(values).every(([name, value]) => isSame(value, before[name])) && cleared.every((name) => before[name] === undefined)
  );
}

function isSame(value: Json, before: Json | undefined): boolean {
  return JSON.stringify(value) === JSON.stringify(before);
}

/** A cell that could not be read has its own mistake; that its field is missing is the same one. */
function withIssues(proposal: Proposal, issues: readonly Issue[]): Proposal {
  if (issues.length === 0) return proposal;
  const told = new Set(issues.map(({ path }) => path));
  return { ...proposal, issues: [...issues, ...proposal.issues.filter(({ path }) => !told.has(path))] };
}
