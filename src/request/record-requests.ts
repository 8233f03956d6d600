import { ACTIONS, type Action, type ActionInput } from '../actions.ts';
import { didYouMean, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import type { HttpRequest } from './http-messages.ts';
import { LIST_NAMES, parseListPart, toListMembers } from './list-request.ts';
import { PROJECTION_NAMES, type ProjectionPart, parseProjection, toProjectionMembers } from './projection.ts';
import { parseBoolean, textAt, toBoolean } from './query-string.ts';
import type { RequestLimits } from './request-limits.ts';
import { createMistakes, type Mistakes } from './request-mistakes.ts';
import { parseFilterMember } from './where.ts';

/** What a request has when it asks for nothing but its action. */
export const BARE = { where: [], typed: true, sort: [], total: false } as const;

/** `GET /api/:resource`; with `deleted=true`, those that are deleted. */
export function parseListRequest(call: HttpRequest, limits: RequestLimits): ApiRequest {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), [...LIST_NAMES, 'deleted'], 'query parameter');
  const deleted = parseBoolean('deleted', { given: toBoolean(textAt(call.query, 'deleted')), otherwise: false }, mistakes);
  const part = parseListPart(toListMembers(call.query), { limits, limitMax: limits.pageMax }, mistakes);
  mistakes.refuse();
  return { resource: param(call, 'resource'), action: deleted ? 'listDeleted' : 'list', typed: false, ...part };
}

/** `GET /api/:resource/:id`, `DELETE /api/:resource/:id`, `GET /api/:resource/schema` */
export function parseRecordRequest(call: HttpRequest, action: 'read' | 'delete' | 'schema'): ApiRequest {
  const shown = action === 'read' ? readShownQuery(call) : undefined;
  if (shown === undefined) refuseQuery(call);
  if (call.body !== undefined) throw new Problem('REQUEST_MALFORMED', `expected no body, ${describeValue(call.body)} was given`);
  const ifMatch = action === 'delete' ? parseIfMatch(call.header('if-match')) : undefined;
  return { ...BARE, ...shown, resource: param(call, 'resource'), action, id: call.params.get('id'), ifMatch };
}

/** `POST /api/:resource`: the body is the data. */
export function parseCreateRequest(call: HttpRequest): ApiRequest {
  refuseQuery(call);
  return { ...BARE, resource: param(call, 'resource'), action: 'create', data: readData(call.body) };
}

/** `PUT /api/:resource/:id`: the body is the data. */
export function parseUpdateRequest(call: HttpRequest): ApiRequest {
  refuseQuery(call);
  const ifMatch = parseIfMatch(call.header('if-match'));
  return { ...BARE, resource: param(call, 'resource'), action: 'update', id: param(call, 'id'), data: readData(call.body), ifMatch };
}

/** Refuses query parameters where none means anything: a mistyped one must not be ignored. */
export function refuseQuery(call: HttpRequest): void {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), [], 'query parameter');
  mistakes.refuse();
}

function readShownQuery(call: HttpRequest): ProjectionPart {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), PROJECTION_NAMES, 'query parameter');
  const part = parseProjection(toProjectionMembers(call.query), mistakes);
  mistakes.refuse();
  return part;
}

/** The value of a `:name` in the route's path. */
export function param(call: HttpRequest, name: string): string {
  const value = call.params.get(name);
  if (value === undefined) throw new Error(`the route has no :${name} in its path`);
  return value;
}

function readData(body: Json | undefined): Json {
  if (!isObject(body)) throw new Problem('REQUEST_MALFORMED', `expected a JSON object of fields in the body, given ${describeValue(body)}`);
  return body;
}

/** Members without which an action that takes them means nothing. */
const REQUIRED: ReadonlySet<ActionInput> = new Set(['id', 'data', 'filter']);

const MAX_ID = 256;

/**
 * `POST /api/:resource/:action` with the members that the action takes as a JSON body. A route whose path spells the
 * action out gives it as `name`.
 */
export function parseActionRequest(call: HttpRequest, limits: RequestLimits, name: string = param(call, 'action')): ApiRequest {
  refuseQuery(call);
  const action = findAction(name);
  if (call.body !== undefined && !isObject(call.body)) {
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object in the body, given ${describeValue(call.body)}`);
  }
  const request = parseAction({ resource: param(call, 'resource'), action, members: call.body ?? {} }, limits);
  return action.takes.includes('ifMatch') && request.ifMatch === undefined
    ? { ...request, ifMatch: parseIfMatch(call.header('if-match')) }
    : request;
}

/** The action of a name. */
export function findAction(name: string, actions: ReadonlyMap<string, Action> = ACTIONS): Action {
  const action = actions.get(name);
  if (action !== undefined) return action;
  throw new Problem('REQUEST_NO_ROUTE', `no action is named ${describeValue(name)}${didYouMean(name, actions.keys())}`);
}

/** An action as its JSON members name it. */
export interface GivenAction {
  readonly resource: string;
  readonly action: Action;
  readonly members: JsonObject;
}

/** Reads the members that an action takes. Every mistake is listed. */
export function parseAction({ resource, action, members }: GivenAction, limits: RequestLimits): ApiRequest {
  const mistakes = createMistakes('REQUEST_MALFORMED');
  mistakes.checkNames(Object.keys(members), action.takes, `member for ${action.name}`);
  const given = (name: ActionInput): Json | undefined => ownValue(members, name);
  for (const name of action.takes) {
    if (REQUIRED.has(name) && name !== 'filter' && given(name) === undefined)
      mistakes.add(name, 'required', `${action.name} needs ${name}`);
  }
  const list = {
    where: given('where'),
    sort: given('sort'),
    limit: given('limit'),
    offset: given('offset'),
    cursor: given('cursor'),
    total: given('total'),
    fields: given('fields'),
    expand: given('expand'),
  };
  const request = {
    resource,
    action: action.name,
    typed: true,
    ...parseListPart(list, { limits, limitMax: action.name === 'export' ? limits.exportMax : limits.pageMax }, mistakes),
    id: readId(given('id'), mistakes),
    data: action.name === 'import' ? checkRows(given('data'), limits, mistakes) : checkData(given('data'), mistakes),
    filter: action.takes.includes('filter') ? parseFilterMember(given('filter'), limits, mistakes) : undefined,
    ifMatch: readVersion(given('ifMatch'), mistakes),
  };
  mistakes.refuse();
  return request;
}

function readId(given: Json | undefined, mistakes: Mistakes): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_ID) return given;
  mistakes.add('id', 'type', `expected the id of a record, given ${describeValue(given)}`);
  return undefined;
}

function checkData(given: Json | undefined, mistakes: Mistakes): Json | undefined {
  if (given !== undefined && !isObject(given)) mistakes.add('data', 'type', `expected an object of fields, given ${describeValue(given)}`);
  return given;
}

/** The data of an import: the fields of each record. One transaction stores them all, and everyone else waits for it. */
function checkRows(given: Json | undefined, { importRows }: RequestLimits, mistakes: Mistakes): Json | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length === 0) {
    mistakes.add('data', 'type', `expected an array of at least one record, given ${describeValue(given)}`);
    return given;
  }
  if (given.length > importRows)
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${importRows} records in an import, given ${given.length}`);
  for (const [index, row] of given.entries()) {
    if (!isObject(row)) mistakes.add(`data.${index}`, 'type', `expected an object of fields, given ${describeValue(row)}`);
  }
  return given;
}

/** A version, or what an If-Match header would say. */
function readVersion(given: Json | undefined, mistakes: Mistakes): readonly number[] | '*' | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return [given];
  if (typeof given !== 'string') {
    mistakes.add('ifMatch', 'type', `expected a version such as 3 or an ETag such as "3", given ${describeValue(given)}`);
    return undefined;
  }
  return parseIfMatch(given);
}

const MAX_TAGS = 20;

/** `"3"`, and `W/"3"`, which is what a compressing proxy makes of it: the tag names a version, not bytes, so it means the same. */
const TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/**
 * Reads an If-Match header: `*`, or a list of the ETags that answers carried.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function parseIfMatch(header: string | undefined): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const tags = header.split(',', MAX_TAGS + 1);
  const versions = tags.map((tag) => TAG.exec(tag.trim())?.[1]);
  if (tags.length > MAX_TAGS || versions.includes(undefined)) {
    throw new Problem('REQUEST_MALFORMED', `expected If-Match to be * or up to ${MAX_TAGS} ETags such as "3"`);
  }
  return versions.map(Number);
}

/** The stored version of an object that is about to change, and the If-Match header. */
export interface Precondition {
  readonly ifMatch: readonly number[] | '*' | undefined;
  /** The stored version; undefined if nothing is stored. */
  readonly version: number | undefined;
  /** The kind of object, for messages: `record` or `policy`. */
  readonly what: string;
  readonly setting: 'optional' | 'required';
}

/**
 * Refuses a change if the stored version is not the one in If-Match.
 *
 * @throws Problem RECORD_VERSION_REQUIRED, RECORD_VERSION
 */
export function checkIfMatch({ ifMatch, version, what, setting }: Precondition): void {
  if (ifMatch === undefined && setting === 'required')
    throw new Problem('RECORD_VERSION_REQUIRED', 'expected If-Match with the ETag of the version to change, none was given');
  if (ifMatch === undefined) return;
  if (version === undefined) throw new Problem('RECORD_VERSION', `there is no ${what} here, and If-Match names one`);
  if (ifMatch === '*' || ifMatch.includes(version)) return;
  throw new Problem('RECORD_VERSION', `the ${what} is at version ${version}, If-Match names ${ifMatch.join(', ')}`);
}
