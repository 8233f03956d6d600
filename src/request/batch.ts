import { Problem } from '../errors.ts';
import { describeValue, isObject, type Json, ownValue } from '../operators/index.ts';
import { findAction, readAction } from './action.ts';
import { createMistakes } from './mistakes.ts';
import type { ApiRequest, RequestLimits } from './request.ts';

/** The requests of a batch, in order; one that is malformed stands as its problem. */
export interface BatchRequest {
  readonly items: readonly (ApiRequest | Problem)[];
  /** All or none. */
  readonly atomic: boolean;
}

const ENVELOPE = ['resource', 'action'];

/**
 * `POST /api/batch`: `{ requests: [{ resource, action, id?, data?, … }], atomic? }`.
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
  const items = requests.map((item) => readItem(item, limits));
  const rows = items.reduce((sum, item) => sum + rowsOf(item), 0);
  if (rows > limits.importRows)
    throw new Problem('REQUEST_TOO_LARGE', `expected at most ${limits.importRows} records in all imports of a batch, given ${rows}`);
  return { items, atomic: atomic === true };
}

function rowsOf(item: ApiRequest | Problem): number {
  return !(item instanceof Problem) && item.action === 'import' && Array.isArray(item.data) ? item.data.length : 0;
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function readItem(item: Json, limits: RequestLimits): ApiRequest | Problem {
  try {
    return readOne(item, limits);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function readOne(item: Json, limits: RequestLimits): ApiRequest {
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
  return readAction({ resource, action: findAction(name), members: item, envelope: ENVELOPE }, limits);
}
