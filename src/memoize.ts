/** The methods that Map, WeakMap and LRUCache share. */
interface Memo<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/**
 * Returns the cached value of a key, or computes and caches it. The owner of `cache` bounds its size. Where requests call it often, `compute`
 * is a function of the module: an arrow function would be created for each call.
 */
export function memoize<Key, Value>(cache: Memo<Key, Value>, key: Key, compute: (key: Key) => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const value = compute(key);
  cache.set(key, value);
  return value;
}

/**
 * Returns the value of a key, or creates and inserts it. Used for maps that hold data instead of caching it: tests replace
 * `memoize` with a function that caches nothing, but never `getOrCreate`.
 */
export const getOrCreate: typeof memoize = memoize;
