/** Merges two changes of a record that were made at the same time, field by field. */
import type { Field, FormValues } from './form-values.ts';
import { isSameValue } from './kept-values.ts';

/** The version whose value a merged record has. */
export type MergeSide = 'mine' | 'theirs';

/** The values of a record before both changes, after mine, and as stored. */
export interface ThreeValues {
  readonly base: FormValues;
  readonly mine: FormValues;
  readonly theirs: FormValues;
}

/** The changed fields of a record, and the merged values. */
export interface ValueMerge {
  /** The fields that both have changed, to different values. */
  readonly conflicts: readonly Field[];
  /** The fields that only I have changed, or both to the same value. */
  readonly mine: readonly Field[];
  /** The fields that only the other user has changed. */
  readonly theirs: readonly Field[];
  /** Returns the merged values. Conflicts that are not chosen keep my value. */
  resolve(chosen: ReadonlyMap<string, MergeSide>): FormValues;
}

/** Compares three versions of the values of a record. */
export function mergeValues(fields: readonly Field[], versions: ThreeValues): ValueMerge {
  const { base, mine, theirs } = versions;
  const hasChanged = (values: FormValues, { name }: Field): boolean => !isSameValue(base[name], values[name]);
  const isConflict = (field: Field): boolean =>
    hasChanged(mine, field) && hasChanged(theirs, field) && !isSameValue(mine[field.name], theirs[field.name]);
  const conflicts = fields.filter(isConflict);
  const own = fields.filter((field) => hasChanged(mine, field) && !isConflict(field));
  const others = fields.filter((field) => hasChanged(theirs, field) && !hasChanged(mine, field));
  return {
    conflicts,
    mine: own,
    theirs: others,
    resolve: (chosen) => {
      const takesMine = ({ name }: Field): boolean => chosen.get(name) !== 'theirs';
      const kept = [...own, ...conflicts.filter(takesMine)];
      return { ...theirs, ...Object.fromEntries(kept.map(({ name }) => [name, mine[name] ?? null])) };
    },
  };
}
