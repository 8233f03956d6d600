import type { Field } from './form-values.ts';

/** Returns a field of a resource. Its parts replace those of a text that every user may read and change. */
export function createField(parts: Partial<Field> = {}): Field {
  return {
    ...{ name: 'f', type: 'string', guarded: false, immutable: false, index: false, operators: [], readOnly: false },
    ...{ required: false, unique: false, writeOnly: false },
    ...parts,
  };
}
