/** A Map or a WeakMap. */
interface Memo<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** What `memo` has under a key; where there is nothing yet, what `work` makes, from now on. What bounds the memo is up to its owner. */
export function memoize<Key, Value>(memo: Memo<Key, Value>, key: Key, work: () => Value): Value {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const value = work();
  memo.set(key, value);
  return value;
}

/**
 * The same for a map that is being put together. By a name of its own: what is remembered may be forgotten, and tests do so; what is put together
 * may not.
 */
export const getOrCreate: typeof memoize = memoize;
