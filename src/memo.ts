/** A Map or a WeakMap. */
interface Memo<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** What `memo` has under a key; where there is nothing yet, what `work` makes, from now on. What bounds the memo is up to its owner. */
export function memoised<Key, Value>(memo: Memo<Key, Value>, key: Key, work: () => Value): Value {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const value = work();
  memo.set(key, value);
  return value;
}
