import { BATCH_ACTIONS } from '../actions.ts';
import { type Issue, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, ownValue } from '../operators/index.ts';
import { findAction, readAction } from './action.ts';
import { readBoolean } from './booleans.ts';
import { readItemMembers } from './item-members.ts';
import { checkItemReferences } from './item-references.ts';
import { createMistakes } from './mistakes.ts';
import type { ApiRequest, RequestLimits } from './request.ts';

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
export function readBatch(body: Json | undefined, limits: RequestLimits): BatchRequest {
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
    checkItemReferences(read.request, earlier);
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
  const { members, inData } = readItemMembers(item, action, mistakes);
  const optional = name === 'updateIfExists' && readBoolean('optional', { given: ownValue(item, 'optional'), otherwise: false }, mistakes);
  mistakes.refuse();
  return { request: within(inData, () => readAction({ resource, action, members }, limits)), optional };
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
