/** An item of one list and the item of another list that it matches, by their indexes. */
export interface MatchedItems {
  readonly from: number;
  readonly to: number;
  /** True if the item changed its place among the matched items. */
  readonly isMoved: boolean;
}

/** The comparison of two lists. Indexes are ascending. */
export interface MatchedLists {
  /** The items that are in both lists, in the order of the second. */
  readonly matched: readonly MatchedItems[];
  /** Indexes of items that are in the first list only. */
  readonly removed: readonly number[];
  /** Indexes of items that are in the second list only. */
  readonly added: readonly number[];
}

/** Returns the key by which items match; undefined for an item that cannot match by it. */
export type ItemKey<Item> = (item: Item) => string | undefined;

/** The two lists to compare. */
export interface ComparedLists<Item> {
  readonly from: readonly Item[];
  readonly to: readonly Item[];
}

/** Matches the items of two lists by the first key, those that are left by the second, and so on. As few items as possible are moved. */
export function matchLists<Item>({ from, to }: ComparedLists<Item>, keys: readonly ItemKey<Item>[]): MatchedLists {
  const origins = new Map<number, number>();
  const left = new Set(from.keys());
  for (const keyOf of keys) {
    const byKey = indexByKey(from, left, keyOf);
    for (const [index, item] of to.entries()) {
      const key = origins.has(index) ? undefined : keyOf(item);
      const origin = key === undefined ? undefined : byKey.get(key)?.shift();
      if (origin === undefined) continue;
      origins.set(index, origin);
      left.delete(origin);
    }
  }
  const pairs = [...origins].map(([index, origin]) => ({ from: origin, to: index })).toSorted((a, b) => a.to - b.to);
  const kept = findLongestIncrease(pairs.map((pair) => pair.from));
  return {
    matched: pairs.map((pair, at) => ({ ...pair, isMoved: !kept.has(at) })),
    removed: [...left],
    added: [...to.keys()].filter((index) => !origins.has(index)),
  };
}

function indexByKey<Item>(items: readonly Item[], indexes: ReadonlySet<number>, keyOf: ItemKey<Item>): Map<string, number[]> {
  const byKey = new Map<string, number[]>();
  for (const index of indexes) {
    const item = items[index];
    const key = item === undefined ? undefined : keyOf(item);
    if (key === undefined) continue;
    const same = byKey.get(key);
    if (same === undefined) byKey.set(key, [index]);
    else same.push(index);
  }
  return byKey;
}

/** Returns the positions of a longest increasing subsequence, in the time of sorting. */
function findLongestIncrease(values: readonly number[]): ReadonlySet<number> {
  // `ends[n]` is the position of the smallest value that ends an increase of n + 1 values.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [position, value] of values.entries()) {
    const length = findInsertion(ends, (end) => (values[end] ?? 0) < value);
    previous[position] = length === 0 ? undefined : ends[length - 1];
    ends[length] = position;
  }
  const found = new Set<number>();
  for (let position = ends.at(-1); position !== undefined; position = previous[position]) found.add(position);
  return found;
}

/** Returns the first index whose item is not below; the items below come first. */
function findInsertion(items: readonly number[], isBelow: (item: number) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && isBelow(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
