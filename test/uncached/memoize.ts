/** In place of the one that remembers. It imports nothing of what it stands for: the runner might hand it itself. */
export function memoised<Value>(_memo: unknown, _key: unknown, work: () => Value): Value {
  return work();
}

/** As it is: what is put together is not forgotten. */
export function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
