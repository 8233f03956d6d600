import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { mergeNames } from './entry-names.ts';
import { type Entry, type EntryNames, namesQuery } from './queries.ts';
import type { DecisionsSearch } from './search.ts';
import { createTailNames } from './tail-names.ts';

/** Returns the names of arriving entries. A list that begins with the earliest entry without a name has those of all after it. */
export function useTailNames(search: DecisionsSearch, entries: readonly Entry[], names: EntryNames): EntryNames {
  const [tail] = useState(createTailNames);
  const [loaded, setLoaded] = useState<EntryNames>(names);
  // The same object while no name is new, so that no row renders again.
  const known = useMemo(() => mergeNames(names, loaded), [names, loaded]);
  const first = tail.firstUnnamed(entries, known);
  const { data } = useQuery({ ...namesQuery(search, first), enabled: first !== undefined });
  if (data !== undefined) {
    const all = tail.add(data);
    if (all !== loaded) setLoaded(all);
  }
  return known;
}
