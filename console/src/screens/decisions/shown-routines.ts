/** The routines that the user has shown last. They are shown again when the screen opens without filters. */
import { shownRoutines } from './filters.ts';
import { type DecisionsSearch, validateDecisionsSearch } from './search.ts';

/** Item of the local storage. */
const KEY = 'bailiwick-shown-routines';

/** Remembers the routines that a state shows. */
export function rememberRoutines(search: DecisionsSearch, storage: Pick<Storage, 'setItem'> = localStorage): void {
  storage.setItem(KEY, JSON.stringify(shownRoutines(search)));
}

/** Returns the routines that were shown last, as a state; an empty one if there are none, or if the item is malformed. */
export function rememberedRoutines(storage: Pick<Storage, 'getItem'> = localStorage): DecisionsSearch {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? shownRoutines(validateDecisionsSearch({ ...stored })) : {};
  } catch {
    // Another program of the same origin may use the same name.
    return {};
  }
}
