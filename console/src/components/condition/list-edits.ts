/** Edits of a list of JSON items whose fields stay mounted: each item keeps its key when it is changed or moved. */

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** Returns the key of an item: the same for as long as the item is in the list. Items that are no objects have their index. */
export function keyOf(item: unknown, index: number): string {
  if (typeof item !== 'object' || item === null) return `index ${index}`;
  const key = keys.get(item) ?? ++lastKey;
  keys.set(item, key);
  return `item ${key}`;
}

/** Returns the list with another item at an index. */
export function replaceAt(list: readonly unknown[], index: number, next: unknown): readonly unknown[] {
  const item = list[index];
  if (isObject(item) && isObject(next)) {
    keyOf(item, index);
    keys.set(next, keys.get(item) ?? ++lastKey);
  }
  return list.with(index, next);
}

/** Returns the list without the item at an index. */
export function removeAt(list: readonly unknown[], index: number): readonly unknown[] {
  return list.toSpliced(index, 1);
}

/** Returns the list with an item at another place. */
export function moveItem(list: readonly unknown[], from: number, to: number): readonly unknown[] {
  if (from < 0 || from >= list.length || to < 0 || to >= list.length) return list;
  return list.toSpliced(from, 1).toSpliced(to, 0, list[from]);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
