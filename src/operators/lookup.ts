import { canonicalAs } from './kinds.ts';
import { type Json, type Kind, type Truth, UNKNOWN } from './value.ts';

/**
 * A list made ready to be asked often: whether a value equals any of its items, in the three answers that asking each would
 * give, without asking each. Two lists meet in time proportional to their lengths, not to the product: both may come from a client.
 */
export function createLookup(items: readonly Json[], kind: Kind | undefined): (value: Json) => Truth {
  const keys = new Set<string>();
  /** JSON types of the items that fit, which no other type compares with where no kind is known. */
  const types = new Set<string>();
  let [nulls, structures, misfits] = [false, false, false];
  for (const item of items) {
    const key = keyOf(item, kind);
    if (item === null) nulls = true;
    else if (typeof item === 'object') structures = true;
    else if (key === undefined) misfits = true;
    else {
      keys.add(key);
      if (kind === undefined || kind === 'json') types.add(typeof item);
    }
  }
  const broken = structures || misfits;
  return (value) => {
    if (items.length === 0) return false;
    if (value === null) return nulls || (structures ? UNKNOWN : false);
    const key = keyOf(value, kind);
    if (typeof value === 'object') return UNKNOWN;
    if (key === undefined) return broken || keys.size > 0 ? UNKNOWN : false;
    if (keys.has(key)) return true;
    return broken || types.size > (types.has(typeof value) ? 1 : 0) ? UNKNOWN : false;
  };
}

/** Equal values have one key. */
function keyOf(value: Json, kind: Kind | undefined): string | undefined {
  if (value === null || typeof value === 'object') return undefined;
  const canonical = canonicalAs(kind ?? 'json', value);
  return canonical === undefined ? undefined : `${typeof canonical} ${canonical}`;
}
