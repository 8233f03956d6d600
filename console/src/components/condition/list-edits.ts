/** Edits of a list of JSON items whose fields stay mounted: each item keeps its key when it is changed or moved. */

/** The keys of the items of a list. Belongs to the component that shows the list. */
export interface ItemKeys {
  /** Returns the key of an item: the same for as long as the item is in the list. Items that are no objects have their index. */
  of(item: unknown, index: number): string;
  /** Returns the list with another item at an index, which has the key of the item before. */
  replaceAt(list: readonly unknown[], index: number, next: unknown): readonly unknown[];
}

/** Creates the keys of a list. */
export function createItemKeys(): ItemKeys {
  const keys = new WeakMap<object, string>();
  let count = 0;
  const keyOf = (item: unknown, index: number): string => {
    if (!isObject(item)) return `index ${index}`;
    const key = keys.get(item) ?? `item ${++count}`;
    keys.set(item, key);
    return key;
  };
  return {
    of: keyOf,
    replaceAt(list, index, next) {
      const item = list[index];
      if (isObject(item) && isObject(next)) keys.set(next, keyOf(item, index));
      return list.with(index, next);
    },
  };
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
