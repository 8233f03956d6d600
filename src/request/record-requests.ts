import { ACTIONS, type Action, type ActionInput } from '../actions.ts';
import { didYouMean, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { ApiRequest, RequestLimits } from './api-request.ts';
import type { HttpRequest } from './http-messages.ts';
import { LIST_NAMES, parseListPart, toListMembers } from './list-request.ts';
import { PROJECTION_NAMES, type ProjectionPart, parseProjection, toProjectionMembers } from './projection.ts';
import { getParameter, parseBoolean, toBoolean } from './query-string.ts';
import { createMistakes, type Mistakes } from './request-mistakes.ts';
import { parseFilterMember } from './where.ts';

/** The default members of a request that has no filter, sort or total. */
const EMPTY_REQUEST = { where: [], typed: true, sort: [], total: false } as const;

/** Parses `GET /api/:resource`. With `deleted=true`, returns a request for the action listDeleted. */
export function parseListRequest(http: HttpRequest, limits: RequestLimits): ApiRequest {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.addUnknown(http.query.keys(), [...LIST_NAMES, 'deleted'], 'query parameter');
  const deleted = parseBoolean('deleted', { given: toBoolean(getParameter(http.query, 'deleted')), fallback: false }, mistakes);
  const part = parseListPart(toListMembers(http.query), { limits, limitMax: limits.pageMax }, mistakes);
  mistakes.throwIfAny();
  return { resource: getPathParameter(http, 'resource'), action: deleted ? 'listDeleted' : 'list', typed: false, ...part };
}

/** Parses `GET /api/:resource/:id`, `DELETE /api/:resource/:id` and `GET /api/:resource/schema`. */
export function parseRecordRequest(http: HttpRequest, action: 'read' | 'delete' | 'schema'): ApiRequest {
  const projection = action === 'read' ? parseProjectionQuery(http) : undefined;
  if (projection === undefined) validateNoQuery(http);
  if (http.body !== undefined) throw new Problem('REQUEST_MALFORMED', `expected no body, ${describeValue(http.body)} was given`);
  const ifMatch = action === 'delete' ? parseIfMatch(http.header('if-match')) : undefined;
  return { ...EMPTY_REQUEST, ...projection, resource: getPathParameter(http, 'resource'), action, id: http.params.get('id'), ifMatch };
}

/** Parses `POST /api/:resource` with the data as its body. */
export function parseCreateRequest(http: HttpRequest): ApiRequest {
  validateNoQuery(http);
  return { ...EMPTY_REQUEST, resource: getPathParameter(http, 'resource'), action: 'create', data: parseData(http.body) };
}

/** Parses `PUT /api/:resource/:id` with the data as its body. */
export function parseUpdateRequest(http: HttpRequest): ApiRequest {
  validateNoQuery(http);
  const ifMatch = parseIfMatch(http.header('if-match'));
  const resource = getPathParameter(http, 'resource');
  const id = getPathParameter(http, 'id');
  return { ...EMPTY_REQUEST, resource, action: 'update', id, data: parseData(http.body), ifMatch };
}

/** Refuses query parameters on routes that take none, so that no mistyped parameter is ignored. @throws Problem REQUEST_PARAMETER */
export function validateNoQuery(http: HttpRequest): void {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.addUnknown(http.query.keys(), [], 'query parameter');
  mistakes.throwIfAny();
}

function parseProjectionQuery(http: HttpRequest): ProjectionPart {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.addUnknown(http.query.keys(), PROJECTION_NAMES, 'query parameter');
  const part = parseProjection(toProjectionMembers(http.query), mistakes);
  mistakes.throwIfAny();
  return part;
}

/** Returns the value of a `:name` in the route's path. */
function getPathParameter(http: HttpRequest, name: string): string {
  const value = http.params.get(name);
  if (value === undefined) throw new Error(`the route has no :${name} in its path`);
  return value;
}

function parseData(body: Json | undefined): Json {
  if (!isObject(body)) throw new Problem('REQUEST_MALFORMED', `expected a JSON object of fields in the body, given ${describeValue(body)}`);
  return body;
}

/** Members that are required by every action that takes them. */
const REQUIRED: ReadonlySet<ActionInput> = new Set(['id', 'data', 'filter']);

const MAX_ID = 256;

/**
 * Parses `POST /api/:resource/:action` with the members of the action as a JSON body. Routes whose path contains the action itself pass
 * it as `name`.
 */
export function parseActionRequest(http: HttpRequest, limits: RequestLimits, name: string = getPathParameter(http, 'action')): ApiRequest {
  validateNoQuery(http);
  const action = findAction(name);
  if (http.body !== undefined && !isObject(http.body)) {
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object in the body, given ${describeValue(http.body)}`);
  }
  const request = parseAction({ resource: getPathParameter(http, 'resource'), action, members: http.body ?? {} }, limits);
  return action.takes.includes('ifMatch') && request.ifMatch === undefined
    ? { ...request, ifMatch: parseIfMatch(http.header('if-match')) }
    : request;
}

/** Returns the action with this name. @throws Problem REQUEST_NO_ROUTE if there is none */
export function findAction(name: string, actions: ReadonlyMap<string, Action> = ACTIONS): Action {
  const action = actions.get(name);
  if (action !== undefined) return action;
  throw new Problem('REQUEST_NO_ROUTE', `no action is named ${describeValue(name)}${didYouMean(name, actions.keys())}`);
}

/** An action on a resource, with the JSON members of its request. */
export interface ActionMembers {
  readonly resource: string;
  readonly action: Action;
  readonly members: JsonObject;
}

/** Parses the members of an action. @throws Problem REQUEST_MALFORMED that lists every mistake */
export function parseAction({ resource, action, members }: ActionMembers, limits: RequestLimits): ApiRequest {
  const mistakes = createMistakes('REQUEST_MALFORMED');
  mistakes.addUnknown(Object.keys(members), action.takes, `member for ${action.name}`);
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
    id: parseId(given('id'), mistakes),
    data: action.name === 'import' ? parseRows(given('data'), limits, mistakes) : parseFields(given('data'), mistakes),
    filter: action.takes.includes('filter') ? parseFilterMember(given('filter'), limits, mistakes) : undefined,
    ifMatch: parseVersion(given('ifMatch'), mistakes),
  };
  mistakes.throwIfAny();
  return request;
}

function parseId(given: Json | undefined, mistakes: Mistakes): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_ID) return given;
  mistakes.add('id', 'type', `expected the id of a record, given ${describeValue(given)}`);
  return undefined;
}

function parseFields(given: Json | undefined, mistakes: Mistakes): Json | undefined {
  if (given !== undefined && !isObject(given)) mistakes.add('data', 'type', `expected an object of fields, given ${describeValue(given)}`);
  return given;
}

/** Parses the rows of an import. The number of rows is limited, because one transaction stores all rows while other writers wait. */
function parseRows(given: Json | undefined, { importRows }: RequestLimits, mistakes: Mistakes): Json | undefined {
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

/** Parses `ifMatch` of a body: a version, or a text like an If-Match header. */
function parseVersion(given: Json | undefined, mistakes: Mistakes): readonly number[] | '*' | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return [given];
  if (typeof given !== 'string') {
    mistakes.add('ifMatch', 'type', `expected a version such as 3 or an ETag such as "3", given ${describeValue(given)}`);
    return undefined;
  }
  return parseIfMatch(given);
}

const MAX_ETAGS = 20;

/** Matches the ETags `"3"` and `W/"3"`, which compressing proxies send. ETags of this service identify a version, not bytes, so both forms mean the same. */
const ETAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/**
 * Parses an If-Match header: `*`, or a list of ETags.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function parseIfMatch(header: string | undefined): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const tags = header.split(',', MAX_ETAGS + 1);
  const versions = tags.map((tag) => ETAG.exec(tag.trim())?.[1]);
  if (tags.length > MAX_ETAGS || versions.includes(undefined)) {
    throw new Problem('REQUEST_MALFORMED', `expected If-Match to be * or up to ${MAX_ETAGS} ETags such as "3"`);
  }
  return versions.map(Number);
}

/** An If-Match header and the stored version that it must name. */
export interface VersionPrecondition {
  readonly ifMatch: readonly number[] | '*' | undefined;
  /** The stored version; undefined if nothing is stored. */
  readonly version: number | undefined;
  /** The changed object, for messages: `record` or `policy`. */
  readonly subject: string;
  /** `required`: a change without If-Match is refused. */
  readonly requirement: 'optional' | 'required';
}

/**
 * Validates that If-Match names the stored version.
 *
 * @throws Problem RECORD_VERSION_REQUIRED, RECORD_VERSION
 */
export function validateIfMatch({ ifMatch, version, subject, requirement }: VersionPrecondition): void {
  if (ifMatch === undefined && requirement === 'required')
    throw new Problem('RECORD_VERSION_REQUIRED', 'expected If-Match with the ETag of the version to change, none was given');
  if (ifMatch === undefined) return;
  if (version === undefined) throw new Problem('RECORD_VERSION', `there is no ${subject} here, and If-Match names one`);
  if (ifMatch === '*' || ifMatch.includes(version)) return;
  throw new Problem('RECORD_VERSION', `the ${subject} is at version ${version}, If-Match names ${ifMatch.join(', ')}`);
}
