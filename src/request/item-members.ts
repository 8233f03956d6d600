import type { Action } from '../actions.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { Mistakes } from './mistakes.ts';

/** The members of a batch item as its action takes them. */
export interface ItemMembers {
  readonly members: JsonObject;
  /** Names of the members that were given inside `data`. */
  readonly inData: ReadonlySet<string>;
}

/**
 * Reads the members of a batch item from its `data`, from beside it, or from both. `data` holds the members of the action, with two exceptions: that of a
 * create is the record, and that of an update is the id with the fields. Where `id` or `filter` is given beside `data`, `data` is the fields alone,
 * so fields that are called `data` or `filter` can always be given.
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

/** Returns the members that `data` holds; undefined where `data` is a member itself. */
function toInside(action: Action, { data, beside }: { readonly data: JsonObject; readonly beside: JsonObject }): JsonObject | undefined {
  if (action.name === 'create') return undefined;
  // No field that can be written is called id.
  if (action.name === 'update') return Object.hasOwn(data, 'id') ? { id: data['id'] as Json, data: without(data, ['id']) } : undefined;
  return action.takes.includes('filter') && Object.hasOwn(beside, 'filter') ? undefined : data;
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
