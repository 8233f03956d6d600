/** The names of entries that arrive one by one, without names. */
import { createKnownNames } from './entry-names.ts';
import { type Entry, type EntryNames, type EntryPage, NO_NAMES } from './queries.ts';

/** The names that were loaded for arriving entries. */
export interface TailNames {
  /** Adds the names of loaded entries. Returns all names. */
  add(page: EntryPage | undefined): EntryNames;
  /** Returns the earliest entry, of those with the newest first, with an id whose name was not loaded yet. */
  firstUnnamed(entries: readonly Entry[], names: EntryNames): Entry | undefined;
}

/** Creates a collection of names. Each id is looked up once: those of deleted users, policies and rules have no name. */
export function createTailNames(): TailNames {
  const known = createKnownNames();
  const looked = new Set<string>();
  let all = NO_NAMES;
  return {
    add(page) {
      if (page === undefined) return all;
      for (const entry of page.data) for (const [, id] of idsOf(entry)) looked.add(id);
      all = known.add([page]);
      return all;
    },
    firstUnnamed: (entries, names) =>
      entries.findLast((entry) => idsOf(entry).some(([group, id]) => names[group][id] === undefined && !looked.has(id))),
  };
}

function idsOf({ userId, policyId, ruleId }: Entry): readonly (readonly [keyof EntryNames, string])[] {
  const ids = [['users', userId] as const, ['policies', policyId] as const, ['rules', ruleId] as const];
  return ids.flatMap(([group, id]) => (id === undefined ? [] : [[group, id] as const]));
}
