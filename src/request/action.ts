import { ACTIONS, type Action, type ActionInput } from '../actions.ts';
import { didYouMean, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { readFilterMember } from './filter.ts';
import { readIfMatch } from './if-match.ts';
import { readListPart } from './list.ts';
import { createMistakes, type Mistakes } from './mistakes.ts';
import type { ApiRequest, RequestLimits } from './request.ts';
import type { Call } from './route.ts';
import { checkNoQuery, param } from './verbs.ts';

/** Members without which an action that takes them means nothing. */
const REQUIRED: ReadonlySet<ActionInput> = new Set(['id', 'data', 'filter']);

const MAX_ID = 256;

/**
 * `POST /api/:resource/:action` with the members that the action takes as a JSON body. A route whose path spells the
 * action out gives it as `name`.
 */
export function readActionRequest(call: Call, limits: RequestLimits, name: string = param(call, 'action')): ApiRequest {
  checkNoQuery(call);
  const action = findAction(name);
  if (call.body !== undefined && !isObject(call.body)) {
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object in the body, given ${describeValue(call.body)}`);
  }
  const request = readAction({ resource: param(call, 'resource'), action, members: call.body ?? {} }, limits);
  return action.takes.includes('ifMatch') && request.ifMatch === undefined
    ? { ...request, ifMatch: readIfMatch(call.header('if-match')) }
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
export function readAction({ resource, action, members }: GivenAction, limits: RequestLimits): ApiRequest {
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
    ...readListPart(list, { limits, limitMax: action.name === 'export' ? limits.exportMax : limits.pageMax }, mistakes),
    id: readId(given('id'), mistakes),
    data: action.name === 'import' ? checkRows(given('data'), limits, mistakes) : checkData(given('data'), mistakes),
    filter: action.takes.includes('filter') ? readFilterMember(given('filter'), limits, mistakes) : undefined,
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
  return readIfMatch(given);
}
