/** Replaces `src/memoize.ts` and computes every value again. It must not import the original, because that import resolves to this file. */
export function memoize<Key, Value>(_memo: unknown, key: Key, work: (key: Key) => Value): Value {
  return work(key);
}

/** Unchanged: the maps that callers build with it must keep their entries. */
export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const known = map.get(key) ?? make(key);
  map.set(key, known);
  return known;
}
