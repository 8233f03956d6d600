import { useState } from 'react';
import type { Definition } from '../../api/own-resources.ts';
import type { Row } from '../../api/records.ts';
import { editableFields, type Field, type FormValues, toFormValues } from './form-values.ts';
import { isSameValue } from './kept-values.ts';

/** The state of a form of a record: the version that it began with, and its values. */
export interface RecordEditor {
  /** The fields of the form. */
  readonly fields: readonly Field[];
  /** The stored record that the values change; undefined for a new one. */
  readonly base: Row | undefined;
  /** The values before the changes. */
  readonly before: FormValues;
  readonly values: FormValues;
  readonly isDirty: boolean;
  /** Changes the values of some fields. */
  change(values: FormValues): void;
  /** Begins again with a stored version, and with other values if they are given. */
  restart(base: Row, values?: FormValues): void;
}

/** Keeps the values of a form. A stored version that is loaded later replaces them if they have no changes. */
export function useRecordEditor(definition: Definition, stored: Row | undefined): RecordEditor {
  const fields = editableFields(definition.fields, stored === undefined);
  const begin = (base: Row | undefined, values?: FormValues) => {
    const before = toFormValues(fields, base);
    return { base, before, values: values ?? before };
  };
  const [state, setState] = useState(() => begin(stored));
  const { base, before, values } = state;
  const isDirty = fields.some(({ name }) => !isSameValue(before[name], values[name]));
  if (isNewer(stored, base) && !isDirty) setState(begin(stored));
  return {
    ...{ fields, base, before, values, isDirty },
    change: (changes) => setState((present) => ({ ...present, values: { ...present.values, ...changes } })),
    restart: (next, nextValues) => setState(begin(next, nextValues)),
  };
}

/** Returns true if a stored record has a later version than another one. */
export function isNewer(stored: Row | undefined, base: Row | undefined): boolean {
  return (stored?.version ?? 0) > (base?.version ?? 0);
}
