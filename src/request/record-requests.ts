import { ACTIONS, type Action } from '../actions.ts';
import { didYouMean, type Issue, type IssueCode, Problem } from '../errors.ts';
import { toRecordId } from '../ids.ts';
import { describeValue, isObject, type Json, ownValue } from '../operators/index.ts';
import type { TypeOf } from '../schemas/index.ts';
import { validateSchema } from '../validation/index.ts';
import type { ApiRequest, IfMatch, RequestLimits } from './api-request.ts';
import { NO_MEMBERS, refuseBody } from './endpoint.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseListPart } from './list-request.ts';
import { type ProjectionPart, parseProjection } from './projection.ts';
import { parseQueryParameters, refuseMistakes } from './query-parameters.ts';
import { type ActionBodySchema, ANY_RECORD, DELETE_QUERY, READ_QUERY } from './record-schemas.ts';
import { refusePreconditions } from './refuse-preconditions.ts';
import { readBodyMembers, readQueryMembers } from './request-members.ts';
import { requestSchemas } from './request-schemas.ts';
import { parseFilterMember } from './where.ts';

/** The default members of a request that has no filter, sort or total. */
const EMPTY_REQUEST = { where: [], typed: true, sort: [], total: false } as const;

/** Parses `GET /api/:resource`. With `deleted=true`, returns a request for the action listDeleted. */
export function parseListRequest(http: HttpRequest, limits: RequestLimits): ApiRequest {
  refusePreconditions(http);
  const { members, issues } = readQueryMembers(http.query, requestSchemas(limits).listQuery);
  const part = parseListPart(members, limits, issues);
  refuseMistakes('REQUEST_PARAMETER', issues);
  const action = members.deleted === true ? 'listDeleted' : 'list';
  return { resource: getPathParameter(http, 'resource'), action, typed: false, ...part };
}

/** Parses `GET /api/:resource/:id` and `GET /api/:resource/schema`. */
export function parseRecordRequest(http: HttpRequest, action: 'read' | 'schema'): ApiRequest {
  const projection = action === 'read' ? parseProjectionQuery(http) : validateNoQuery(http);
  refuseBody(http);
  refusePreconditions(http, action === 'read' ? 'If-None-Match' : undefined);
  const id = action === 'read' ? getRecordId(http) : undefined;
  return { ...EMPTY_REQUEST, ...projection, resource: getPathParameter(http, 'resource'), action, id };
}

/** Parses `DELETE /api/:resource/:id`. */
export function parseDeleteRequest(http: HttpRequest): ApiRequest {
  const { dryRun } = parseQueryParameters(http.query, DELETE_QUERY);
  refuseBody(http);
  const ifMatch = parsePrecondition(http);
  const [resource, id] = [getPathParameter(http, 'resource'), getRecordId(http)];
  return { ...EMPTY_REQUEST, resource, action: 'delete', id, ifMatch, dryRun };
}

/** Parses `POST /api/:resource` with the data as its body. */
export function parseCreateRequest(http: HttpRequest): ApiRequest {
  validateNoQuery(http);
  refusePreconditions(http);
  return {
    ...EMPTY_REQUEST,
    resource: getPathParameter(http, 'resource'),
    action: 'create',
    data: parseData(http.body, ANY_RECORD.create),
  };
}

/** Parses `PUT /api/:resource/:id` with the data as its body. */
export function parseUpdateRequest(http: HttpRequest): ApiRequest {
  validateNoQuery(http);
  const ifMatch = parsePrecondition(http);
  const resource = getPathParameter(http, 'resource');
  const id = getRecordId(http);
  return { ...EMPTY_REQUEST, resource, action: 'update', id, data: parseData(http.body, ANY_RECORD.update), ifMatch };
}

/** Refuses query parameters on routes that take none, so that no mistyped parameter is ignored. @throws Problem REQUEST_PARAMETER */
export function validateNoQuery(http: HttpRequest): void {
  parseQueryParameters(http.query, NO_MEMBERS);
}

function parseProjectionQuery(http: HttpRequest): ProjectionPart {
  const { members, issues } = readQueryMembers(http.query, READ_QUERY);
  const part = parseProjection(members, issues);
  refuseMistakes('REQUEST_PARAMETER', issues);
  return part;
}

/** Returns the value of a `:name` in the route's path. */
function getPathParameter(http: HttpRequest, name: string): string {
  const value = http.params.get(name);
  if (value === undefined) throw new Error(`the route has no :${name} in its path`);
  return value;
}

/** Returns the id of the record in the route's path. */
function getRecordId(http: HttpRequest): string {
  return toRecordId(getPathParameter(http, 'id'));
}

/** Parses the values of a record. A missing body is refused, so that it does not become a record without values. */
function parseData(body: Json | undefined, schema: object): Json {
  const data = body as Json;
  refuseMistakes('VALUE_INVALID', validateSchema(schema, data));
  return data;
}

/**
 * Parses `POST /api/:resource/:action` with the members of the action as a JSON body. Routes whose path contains the action itself pass
 * it as `name`.
 */
export function parseActionRequest(http: HttpRequest, limits: RequestLimits, name: string = getPathParameter(http, 'action')): ApiRequest {
  validateNoQuery(http);
  const action = findAction(name);
  const { request, issues } = parseAction({ resource: getPathParameter(http, 'resource'), action, body: http.body }, limits);
  const takesVersion = action.takes.includes('ifMatch');
  if (takesVersion && request.ifMatch !== undefined && http.header('if-match') !== undefined)
    issues.push({ path: 'ifMatch', code: 'conflict', detail: 'expected ifMatch or the header If-Match, both were given' });
  refuseMistakes('REQUEST_MALFORMED', issues);
  if (!takesVersion) refusePreconditions(http);
  return takesVersion ? { ...request, ifMatch: parsePrecondition(http) ?? request.ifMatch } : request;
}

/** Parses the If-Match of a change. @throws Problem REQUEST_MALFORMED, also for other preconditions */
function parsePrecondition(http: HttpRequest): IfMatch {
  refusePreconditions(http, 'If-Match');
  return parseIfMatch(http.header('if-match'));
}

/** Returns the action with this name. @throws Problem REQUEST_NO_ROUTE if there is none */
export function findAction(name: string, actions: ReadonlyMap<string, Action> = ACTIONS): Action {
  const action = actions.get(name);
  if (action !== undefined) return action;
  throw new Problem('REQUEST_NO_ROUTE', describeUnknownAction(name, actions));
}

/** Returns a sentence about an action that does not exist, with the most similar name. */
export function describeUnknownAction(name: string, actions: ReadonlyMap<string, Action>): string {
  return `no action is named ${describeValue(name)}${didYouMean(name, actions.keys())}`;
}

/** An action on a resource, with the JSON body of its request. */
export interface ActionInvocation {
  readonly resource: string;
  readonly action: Action;
  readonly body: Json | undefined;
}

/** The request for an action, and every mistake in it. The request is valid if there are none. */
export interface ParsedAction {
  readonly request: ApiRequest;
  readonly issues: Issue[];
}

/** Parses the body of an action. @throws Problem REQUEST_TOO_LARGE for an import of too many rows */
export function parseAction({ resource, action, body }: ActionInvocation, limits: RequestLimits): ParsedAction {
  if (action.name === 'import') validateRowCount(body, limits);
  const schema = requestSchemas(limits).actionBodies.get(action.name);
  if (schema === undefined) throw new Error(`the action ${action.name} has no schema`);
  const { members, issues } = readBodyMembers(body, schema);
  return { request: toRequest({ resource, action, members }, limits, issues), issues };
}

interface GivenAction extends Omit<ActionInvocation, 'body'> {
  readonly members: Partial<TypeOf<ActionBodySchema>>;
}

function toRequest({ resource, action, members }: GivenAction, limits: RequestLimits, issues: Issue[]): ApiRequest {
  return {
    resource,
    action: action.name,
    typed: true,
    ...parseListPart(members, limits, issues),
    id: members.id === undefined ? undefined : toRecordId(members.id),
    data: members.data,
    filter: action.takes.includes('filter') ? parseFilterMember(members.filter, limits, issues) : undefined,
    ifMatch: parseVersion(members.ifMatch, issues),
    dryRun: members.dryRun,
  };
}

/** Refuses an import of too many rows: one transaction stores all of them while other writers wait. @throws Problem REQUEST_TOO_LARGE */
export function validateRowCount(body: Json | undefined, { importRows }: RequestLimits): void {
  const rows = isObject(body) ? ownValue(body, 'data') : undefined;
  if (!Array.isArray(rows) || rows.length <= importRows) return;
  throw new Problem('REQUEST_TOO_LARGE', `expected at most ${importRows} records in an import, given ${rows.length}`);
}

/** Parses `ifMatch` of a body: a version, or a text like an If-Match header. */
function parseVersion(given: Json | undefined, issues: Issue[]): IfMatch {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return [given];
  const versions = typeof given === 'string' ? toVersions(given) : undefined;
  if (versions === undefined) {
    const detail = `expected a version such as 3 or an ETag such as "3", given ${describeValue(given)}`;
    issues.push({ path: 'ifMatch', code: versionMistakeCode(given), detail });
  }
  return versions;
}

function versionMistakeCode(given: Json): IssueCode {
  if (typeof given === 'number' && Number.isInteger(given)) return 'range';
  return typeof given === 'string' ? 'format' : 'type';
}

const MAX_ETAGS = 20;

/** Matches the ETags `"3"` and `W/"3"`, which compressing proxies send. ETags of this service identify a version, not bytes, so both forms mean the same. */
const ETAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/**
 * Parses an If-Match header: `*`, or a list of ETags.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function parseIfMatch(header: string | undefined): IfMatch {
  if (header === undefined) return undefined;
  const versions = toVersions(header);
  if (versions !== undefined) return versions;
  const detail = `expected * or up to ${MAX_ETAGS} ETags with their quotes, such as "3", given ${describeValue(header)}`;
  throw new Problem('REQUEST_MALFORMED', `If-Match: ${detail}`, { errors: [{ path: 'If-Match', code: 'format', detail }] });
}

/** Returns the versions of an If-Match; undefined if it has another form or too many ETags. */
function toVersions(text: string): IfMatch {
  if (text.trim() === '*') return '*';
  const tags = text.split(',', MAX_ETAGS + 1);
  const versions = tags.map((tag) => ETAG.exec(tag.trim())?.[1]).filter((version) => version !== undefined);
  return tags.length > MAX_ETAGS || versions.length < tags.length ? undefined : versions.map(Number);
}

/** An If-Match header and the stored version that it must name. */
export interface VersionPrecondition {
  readonly ifMatch: IfMatch;
  /** The stored version; undefined if nothing is stored. */
  readonly version: number | undefined;
  /** The changed object. The problem has the current version of policies and assignments only: not every caller who may change a record may read it. */
  readonly subject: 'record' | 'policy' | 'assignment' | 'view';
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
  const detail = `the ${subject} is at version ${version}, If-Match names ${ifMatch.join(', ')}`;
  throw new Problem('RECORD_VERSION', detail, { currentVersion: subject === 'record' ? undefined : version });
}
