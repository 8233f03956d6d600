import { type Action, BATCH_ACTIONS } from '../actions.ts';
import { type Issue, type IssueCode, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { Type, type TypeOf } from '../schemas/index.ts';
import { validateSchema } from '../validation/index.ts';
import type { ApiRequest, FilterItem, RequestLimits } from './api-request.ts';
import { refuseMistakes } from './query-parameters.ts';
import { describeUnknownAction, findAction, parseAction } from './record-requests.ts';
import { NAME } from './record-schemas.ts';
import { readBodyMembers } from './request-members.ts';
import { requestSchemas } from './request-schemas.ts';

/** One request of a batch. */
export interface BatchItem {
  /** The request, or its problem if it is malformed. */
  readonly request: ApiRequest | Problem;
  /** True if an atomic batch continues when the updateIfExists matches no record. */
  readonly optional: boolean;
}

/** The requests of a batch, in order. */
export interface BatchRequest {
  readonly items: readonly BatchItem[];
  /** True if a failed request rolls back all requests of the batch. */
  readonly atomic: boolean;
}

/**
 * Parses `POST /api/batch`: `{ requests: [{ resource, action, data }], atomic? }`. The members of `data` may also be given beside `data`.
 *
 * @throws Problem if the batch itself is malformed or too large
 */
export function parseBatch(body: Json | undefined, limits: RequestLimits): BatchRequest {
  const given = isObject(body) ? ownValue(body, 'requests') : undefined;
  if (Array.isArray(given) && given.length > limits.batchItems)
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${limits.batchItems} requests, given ${given.length}`);
  const { members, issues } = readBodyMembers(body, requestSchemas(limits).batchBody);
  refuseMistakes('REQUEST_MALFORMED', issues);
  const { requests = [], atomic = false } = members;
  const items: BatchItem[] = [];
  for (const item of requests) items.push(parseItem(item, items, limits));
  const rows = importedRows(items);
  if (rows > limits.importRows)
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${limits.importRows} records in all imports of a batch, given ${rows}`);
  return { items, atomic };
}

/** Returns the number of records that the imports among the requests contain. */
export function importedRows(items: readonly Pick<BatchItem, 'request'>[]): number {
  const rowsOf = ({ request }: Pick<BatchItem, 'request'>): number =>
    !(request instanceof Problem) && request.action === 'import' && Array.isArray(request.data) ? request.data.length : 0;
  return items.reduce((sum, item) => sum + rowsOf(item), 0);
}

function parseItem(item: Json, earlier: readonly BatchItem[], limits: RequestLimits): BatchItem {
  try {
    return parseItemRequest(item, earlier, limits);
  } catch (error) {
    if (error instanceof Problem) return { request: error, optional: false };
    throw error;
  }
}

/** The members of every item. The action has a schema of the others. */
const ITEM = Type.Object({ resource: NAME, action: NAME });
const OPTIONAL = Type.Object({ optional: Type.Optional(Type.Boolean()) });

/** @throws Problem that lists every mistake */
function parseItemRequest(item: Json, earlier: readonly BatchItem[], limits: RequestLimits): BatchItem {
  const issues = validateSchema(ITEM, item);
  const action = requireAction(item, issues);
  const isOptional = action.name === 'updateIfExists' && ownValue(item, 'optional') === true;
  if (action.name === 'updateIfExists') issues.push(...validateSchema(OPTIONAL, item));
  const { resource } = item as TypeOf<typeof ITEM>;
  const { members, inData } = parseItemMembers(item as JsonObject, action, issues);
  const { request, issues: others } = parseAction({ resource, action, body: members }, limits);
  refuseMistakes('REQUEST_MALFORMED', [...issues, ...withDataPaths([...others, ...findReferenceMistakes(request, earlier)], inData)]);
  return { request, optional: isOptional };
}

/** Returns the action of an item. Without one, the schema of the other members is unknown, so the item is refused with the mistakes found so far. */
function requireAction(item: Json, issues: readonly Issue[]): Action {
  const name = ownValue(item, 'action');
  const action = typeof name === 'string' ? BATCH_ACTIONS.get(name) : undefined;
  if (action !== undefined) return action;
  const isReported = typeof name !== 'string' || issues.some(({ path }) => path === 'action');
  // An unknown action alone is REQUEST_NO_ROUTE, as in a path.
  if (issues.length > 0 || name === 'batch') refuseMistakes('REQUEST_MALFORMED', isReported ? issues : [...issues, explainAction(name)]);
  return findAction(String(name), BATCH_ACTIONS);
}

function explainAction(name: string): Issue {
  const detail = name === 'batch' ? 'a batch cannot contain another batch' : describeUnknownAction(name, BATCH_ACTIONS);
  return { path: 'action', code: 'enum', detail };
}

/** Prefixes the paths of mistakes with `data.` for members that were given inside `data`. */
function withDataPaths(issues: readonly Issue[], inData: ReadonlySet<string>): readonly Issue[] {
  return issues.map((issue) => (inData.has(issue.path.split('.', 1)[0] ?? '') ? { ...issue, path: `data.${issue.path}` } : issue));
}

/** The members of a batch item in the form that its action expects. */
export interface ItemMembers {
  readonly members: JsonObject;
  /** Names of the members that were given inside `data`. */
  readonly inData: ReadonlySet<string>;
}

/**
 * Parses the members of a batch item, which may be in `data`, in the item itself, or in both. `data` contains the members of the action, with
 * two exceptions: for a create it is the record, and for an update it is the id with the fields. If the item itself has `id` or
 * `filter`, `data` contains only the fields, so fields named `data` or `filter` can always be sent.
 */
function parseItemMembers(item: JsonObject, action: Action, issues: Issue[]): ItemMembers {
  const data = ownValue(item, 'data');
  const beside = without(item, ['resource', 'action', ...(action.name === 'updateIfExists' ? ['optional'] : [])]);
  const takesData = action.takes.includes('data');
  if (data !== undefined && !isObject(data) && !takesData) {
    const detail = `expected an object with the members of ${action.name}, given ${describeValue(data)}`;
    refuseMistakes('REQUEST_MALFORMED', [...issues, { path: 'data', code: 'type', detail }]);
  }
  const inside = isObject(data) ? membersInData(action, { data, beside }) : undefined;
  if (inside === undefined) return { members: beside, inData: new Set() };
  const others = without(beside, ['data']);
  for (const name of Object.keys(others)) {
    if (Object.hasOwn(inside, name))
      issues.push({ path: name, code: 'duplicate', detail: 'expected it in data or beside data, it was given in both' });
  }
  // In an update, `data` contains the fields directly, so the paths of mistakes need no second `data.`.
  const inData = Object.keys(inside).filter((name) => action.name !== 'update' || name !== 'data');
  return { members: { ...others, ...inside }, inData: new Set(inData) };
}

/** Returns the members inside `data`; undefined if `data` itself is a member. */
function membersInData(
  action: Action,
  { data, beside }: { readonly data: JsonObject; readonly beside: JsonObject },
): JsonObject | undefined {
  if (action.name === 'create') return undefined;
  // `id` cannot be a field, because no writable field has this name.
  if (action.name === 'update') return Object.hasOwn(data, 'id') ? { id: data['id'] as Json, data: without(data, ['id']) } : undefined;
  return action.takes.includes('filter') && Object.hasOwn(beside, 'filter') ? undefined : data;
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** `$0.id`: the id of the record that an earlier request returned. A second `$` escapes it: `$$0.id` is the text `$0.id`. */
const REFERENCE = /^(\$+)(0|[1-9]\d*)\.id$/;

/** Finds references to requests that are not earlier, or do not return a record. */
function findReferenceMistakes(request: ApiRequest, earlier: readonly BatchItem[]): readonly Issue[] {
  const issues: Issue[] = [];
  if (!hasItemReferences(request)) return issues;
  for (const [text, path] of referencesIn(request)) {
    const refuse = (code: IssueCode, detail: string): unknown => issues.push({ path, code, detail });
    const index = toIndex(text);
    if (index === undefined) continue;
    const target = earlier[index]?.request;
    if (target === undefined)
      refuse('range', `expected ${text.slice(0, 64)} to refer to an earlier request; write a second $ in front to send it as text`);
    else if (!(target instanceof Problem) && BATCH_ACTIONS.get(target.action)?.returnsRecord !== true)
      refuse('type', `expected ${text} to refer to a request that returns one record, request ${index} has the action ${target.action}`);
  }
  return issues;
}

/** Returns true if the values of a request contain references to earlier requests of the batch, or escaped references. */
export function hasItemReferences({ id, data, filter = [], where }: ApiRequest): boolean {
  return [id, data].some(hasReference) || [...filter, ...where].some(({ value }) => hasReference(value));
}

function hasReference(value: Json | undefined): boolean {
  if (typeof value === 'string') return REFERENCE.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReference);
}

/** Returns the request with references to earlier requests of the batch replaced by the ids of their records, and escaped texts unescaped. */
export function fillItemReferences(request: ApiRequest, idOf: (index: number) => string): ApiRequest {
  if (!hasItemReferences(request)) return request;
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

type ItemReference = readonly [text: string, path: string];

/** Finds references and escaped references in the values of id, data, filter and where, each with its path. */
function* referencesIn({ id, data, filter = [], where }: ApiRequest): Generator<ItemReference, undefined> {
  if (id !== undefined) yield* referencesAt(id, 'id');
  if (data !== undefined) yield* referencesAt(data, 'data');
  for (const { field, value } of filter) yield* referencesAt(value, `filter.${field}`);
  for (const { field, value } of where) yield* referencesAt(value, `where.${field}`);
}

/** Finds references in a value recursively. The JSON parser has limited the nesting. */
function* referencesAt(value: Json, path: string): Generator<ItemReference, undefined> {
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
