import type { Action } from '../actions.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { Mistakes } from './mistakes.ts';

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
export function readItemMembers(item: JsonObject, action: Action, mistakes: Mistakes): ItemMembers {
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
