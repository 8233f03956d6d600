import { Problem } from '../errors.ts';
import { describeValue, isObject, type Json } from '../operators/index.ts';
import { readBoolean, toBoolean } from './booleans.ts';
import { readIfMatch } from './if-match.ts';
import { LIST_NAMES, readListPart, toListMembers } from './list.ts';
import { createMistakes } from './mistakes.ts';
import { textAt } from './query.ts';
import type { ApiRequest, RequestLimits } from './request.ts';
import type { Call } from './route.ts';
import { readShownPart, SHOWN_NAMES, type ShownPart, toShownMembers } from './shown.ts';

/** What a request has when it asks for nothing but its action. */
export const BARE = { where: [], typed: true, sort: [], total: false } as const;

/** `GET /api/:resource`; with `deleted=true`, those that are deleted. */
export function readListRequest(call: Call, limits: RequestLimits): ApiRequest {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), [...LIST_NAMES, 'deleted'], 'query parameter');
  const deleted = readBoolean('deleted', { given: toBoolean(textAt(call.query, 'deleted')), otherwise: false }, mistakes);
  const part = readListPart(toListMembers(call.query), { limits, limitMax: limits.pageMax }, mistakes);
  mistakes.refuse();
  return { resource: param(call, 'resource'), action: deleted ? 'listDeleted' : 'list', typed: false, ...part };
}

/** `GET /api/:resource/:id`, `DELETE /api/:resource/:id`, `GET /api/:resource/schema` */
export function readRecordRequest(call: Call, action: 'read' | 'delete' | 'schema'): ApiRequest {
  const shown = action === 'read' ? readShownQuery(call) : undefined;
  if (shown === undefined) checkNoQuery(call);
  if (call.body !== undefined) throw new Problem('REQUEST_MALFORMED', `expected no body, ${describeValue(call.body)} was given`);
  const ifMatch = action === 'delete' ? readIfMatch(call.header('if-match')) : undefined;
  return { ...BARE, ...shown, resource: param(call, 'resource'), action, id: call.params.get('id'), ifMatch };
}

/** `POST /api/:resource`: the body is the data. */
export function readCreateRequest(call: Call): ApiRequest {
  checkNoQuery(call);
  return { ...BARE, resource: param(call, 'resource'), action: 'create', data: readData(call.body) };
}

/** `PUT /api/:resource/:id`: the body is the data. */
export function readUpdateRequest(call: Call): ApiRequest {
  checkNoQuery(call);
  const ifMatch = readIfMatch(call.header('if-match'));
  return { ...BARE, resource: param(call, 'resource'), action: 'update', id: param(call, 'id'), data: readData(call.body), ifMatch };
}

/** Refuses query parameters where none means anything: a mistyped one must not be ignored. */
export function checkNoQuery(call: Call): void {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), [], 'query parameter');
  mistakes.refuse();
}

function readShownQuery(call: Call): ShownPart {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), SHOWN_NAMES, 'query parameter');
  const part = readShownPart(toShownMembers(call.query), mistakes);
  mistakes.refuse();
  return part;
}

/** The value of a `:name` in the route's path. */
export function param(call: Call, name: string): string {
  const value = call.params.get(name);
  if (value === undefined) throw new Error(`the route has no :${name} in its path`);
  return value;
}

function readData(body: Json | undefined): Json {
  if (!isObject(body)) throw new Problem('REQUEST_MALFORMED', `expected a JSON object of fields in the body, given ${describeValue(body)}`);
  return body;
}
