import { type Action, BATCH_ACTIONS } from '../actions.ts';
import { type Issue, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { parseBoolean } from './query-string.ts';
import { findAction, parseAction } from './record-requests.ts';
import type { RequestLimits } from './request-limits.ts';
import { createMistakes, type Mistakes } from './request-mistakes.ts';
import type { FilterItem } from './where.ts';

/** One request of a batch. */
export interface BatchItem {
  /** Its problem if it is malformed. */
  readonly request: ApiRequest | Problem;
  /** True for an updateIfExists that may match nothing although the batch is atomic. */
  readonly optional: boolean;
}

/** The requests of a batch, in order. */
export interface BatchRequest {
  readonly items: readonly BatchItem[];
  /** All or none. */
  readonly atomic: boolean;
}

/**
 * `POST /api/batch`: `{ requests: [{ resource, action, data }], atomic? }`; what `data` holds may be given beside it.
 *
 * @throws Problem where the batch itself is malformed or too large.
 */
export function parseBatch(body: Json | undefined, limits: RequestLimits): BatchRequest {
  if (!isObject(body))
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object with requests in the body, given ${describeValue(body)}`);
  const requests = toList(ownValue(body, 'requests'));
  const atomic = Object.hasOwn(body, 'atomic') ? body['atomic'] : false;
  const mistakes = createMistakes('REQUEST_MALFORMED');
  mistakes.checkNames(Object.keys(body), ['requests', 'atomic'], 'member');
  if (typeof atomic !== 'boolean') mistakes.add('atomic', 'type', `expected true or false, given ${describeValue(atomic)}`);
  if (requests.length === 0) {
    mistakes.add('requests', 'type', `expected a list of at least one request, given ${describeValue(ownValue(body, 'requests'))}`);
  }
  mistakes.refuse();
  if (requests.length > limits.batchItems) {
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${limits.batchItems} requests, given ${requests.length}`);
  }
  const items: BatchItem[] = [];
  for (const item of requests) items.push(readItem(item, items, limits));
  const rows = items.reduce((sum, item) => sum + rowsOf(item), 0);
  if (rows > limits.importRows)
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${limits.importRows} records in all imports of a batch, given ${rows}`);
  return { items, atomic: atomic === true };
}

function rowsOf({ request }: BatchItem): number {
  return !(request instanceof Problem) && request.action === 'import' && Array.isArray(request.data) ? request.data.length : 0;
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function readItem(item: Json, earlier: readonly BatchItem[], limits: RequestLimits): BatchItem {
  try {
    const read = readOne(item, limits);
    validateItemReferences(read.request, earlier);
    return read;
  } catch (error) {
    if (error instanceof Problem) return { request: error, optional: false };
    throw error;
  }
}

interface ReadItem extends BatchItem {
  readonly request: ApiRequest;
}

function readOne(item: Json, limits: RequestLimits): ReadItem {
  if (!isObject(item)) throw new Problem('REQUEST_MALFORMED', `expected an object with resource and action, given ${describeValue(item)}`);
  const mistakes = createMistakes('REQUEST_MALFORMED');
  const text = (name: string): string => {
    const value = ownValue(item, name);
    if (typeof value === 'string' && value !== '') return value;
    mistakes.add(name, value === undefined ? 'required' : 'type', `expected a name, given ${describeValue(value)}`);
    return '';
  };
  const resource = text('resource');
  const name = text('action');
  mistakes.refuse();
  if (name === 'batch') throw new Problem('REQUEST_MALFORMED', 'a batch cannot hold another batch');
  const action = findAction(name, BATCH_ACTIONS);
  const { members, inData } = parseItemMembers(item, action, mistakes);
  const optional = name === 'updateIfExists' && parseBoolean('optional', { given: ownValue(item, 'optional'), otherwise: false }, mistakes);
  mistakes.refuse();
  return { request: within(inData, () => parseAction({ resource, action, members }, limits)), optional };
}

/** Puts `data.` in front of the paths of mistakes in members that were given inside `data`. */
function within<T>(inData: ReadonlySet<string>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem) || inData.size === 0) throw error;
    const place = (issue: Issue): Issue =>
      inData.has(issue.path.split('.', 1)[0] ?? '') ? { ...issue, path: `data.${issue.path}` } : issue;
    throw new Problem(error.code, error.detail, { ...error.extras, errors: (error.extras.errors ?? []).map(place) });
  }
}

/** The members of a batch item in the form that its action expects. */
export interface ItemMembers {
  readonly members: JsonObject;
  /** Names of the members that were given inside `data`. */
  readonly inData: ReadonlySet<string>;
}

/**
 * Reads the members of a batch item from `data`, from the item itself, or from both. `data` holds the members of the action, with two exceptions: for
 * a create it is the record, and for an update the id with the fields. If the item itself has `id` or `filter`, `data` holds only the fields,
 * so fields named `data` or `filter` can always be sent.
 */
export function parseItemMembers(item: JsonObject, action: Action, mistakes: Mistakes): ItemMembers {
  const data = ownValue(item, 'data');
  const beside = without(item, ['resource', 'action', ...(action.name === 'updateIfExists' ? ['optional'] : [])]);
  const takesData = action.takes.includes('data');
  if (data !== undefined && !isObject(data) && !takesData) {
    mistakes.add('data', 'type', `expected an object with the members of ${action.name}, given ${describeValue(data)}`);
    return { members: without(beside, ['data']), inData: new Set() };
  }
  const inside = isObject(data) ? toInside(action, { data, beside }) : undefined;
  if (inside === undefined) return { members: beside, inData: new Set() };
  const others = without(beside, ['data']);
  for (const name of Object.keys(others)) {
    if (Object.hasOwn(inside, name)) mistakes.add(name, 'duplicate', 'expected it in data or beside data, it was given in both');
  }
  // The fields of an update are data itself.
  const inData = Object.keys(inside).filter((name) => action.name !== 'update' || name !== 'data');
  return { members: { ...others, ...inside }, inData: new Set(inData) };
}

/** Returns the members inside `data`; undefined if `data` itself is a member. */
function toInside(action: Action, { data, beside }: { readonly data: JsonObject; readonly beside: JsonObject }): JsonObject | undefined {
  if (action.name === 'create') return undefined;
  // No field that can be written is called id.
  if (action.name === 'update') return Object.hasOwn(data, 'id') ? { id: data['id'] as Json, data: without(data, ['id']) } : undefined;
  return action.takes.includes('filter') && Object.hasOwn(beside, 'filter') ? undefined : data;
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** `$0.id`: the id of the record that an earlier request gave. With a further `$` in front it is text: `$$0.id` means `$0.id`. */
const REFERENCE = /^(\$+)(0|[1-9]\d*)\.id$/;

/** Actions that return one record. */
const GIVES_RECORD: ReadonlySet<string> = new Set(['create', 'read', 'update', 'createIfNotExists', 'updateIfExists']);

/** Checks that a request refers only to earlier requests that return a record. Throws a Problem with every mistake. */
export function validateItemReferences(request: ApiRequest, earlier: readonly { readonly request: ApiRequest | Problem }[]): void {
  const mistakes = createMistakes('REQUEST_MALFORMED');
  for (const [text, path] of referencesIn(request)) {
    const index = toIndex(text);
    if (index === undefined) continue;
    const target = earlier[index]?.request;
    if (target === undefined)
      mistakes.add(path, 'range', `expected ${text.slice(0, 64)} to refer to an earlier request; as text, it is written with a second $`);
    else if (!(target instanceof Problem) && !GIVES_RECORD.has(target.action))
      mistakes.add(
        path,
        'type',
        `expected ${text} to refer to a request that gives one record, request ${index} is of the action ${target.action}`,
      );
  }
  mistakes.refuse();
}

/** Replaces the references of a request by ids, and removes the escape of escaped texts. */
export function fillItemReferences(request: ApiRequest, idOf: (index: number) => string): ApiRequest {
  if (referencesIn(request).next().done === true) return request;
  const fill = (text: string): string => {
    if (!REFERENCE.test(text)) return text;
    const index = toIndex(text);
    return index === undefined ? text.slice(1) : idOf(index);
  };
  const inItems = (items: readonly FilterItem[]): readonly FilterItem[] =>
    items.map((item) => ({ ...item, value: fillIn(item.value, fill) }));
  const { id, data, filter, where } = request;
  return {
    ...request,
    ...(id !== undefined && { id: fill(id) }),
    ...(data !== undefined && { data: fillIn(data, fill) }),
    ...(filter !== undefined && { filter: inItems(filter) }),
    where: inItems(where),
  };
}

function toIndex(text: string): number | undefined {
  const [, marks, index] = REFERENCE.exec(text) ?? [];
  return marks === '$' ? Number(index) : undefined;
}

type Found = readonly [text: string, path: string];

/** Finds references and escaped references in the values of id, data, filter and where, each with its path. */
function* referencesIn({ id, data, filter = [], where }: ApiRequest): Generator<Found, undefined> {
  if (id !== undefined) yield* referencesAt(id, 'id');
  if (data !== undefined) yield* referencesAt(data, 'data');
  for (const { field, value } of filter) yield* referencesAt(value, `filter.${field}`);
  for (const { field, value } of where) yield* referencesAt(value, `where.${field}`);
}

/** Walks values recursively: the nesting of a body is bounded before it is parsed. */
function* referencesAt(value: Json, path: string): Generator<Found, undefined> {
  if (typeof value === 'string') {
    if (REFERENCE.test(value)) yield [value, path];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) yield* referencesAt(each as Json, `${path}.${name.slice(0, 64)}`);
  }
}

function fillIn(value: Json, fill: (text: string) => string): Json {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((each: Json) => fillIn(each, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillIn(each as Json, fill)]));
}
