/** The methods that Map, WeakMap and LRUCache share. */
interface Memo<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** Returns the cached value of a key, or computes and caches it. The owner of `cache` bounds its size. */
export function memoize<Key, Value>(cache: Memo<Key, Value>, key: Key, compute: () => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const value = compute();
  cache.set(key, value);
  return value;
}

/**
 * Returns the value of a key, or creates and inserts it. For maps that hold data: tests run the program with a `memoize` that caches
 * nothing, and this function must still insert.
 */
export const getOrCreate: typeof memoize = memoize;
