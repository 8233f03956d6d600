import type { Field } from '../../components/record-form/form-values.ts';

/** Number of columns of a table of records. */
const MAX_COLUMNS = 7;

/** Order of the kinds of fields in a table: names first, long values last. */
const LAST: ReadonlySet<string> = new Set(['text', 'json']);

/** Returns the fields that a table of records shows: those of the definition, long ones last, then the time of the last change. */
export function tableFields(fields: readonly Field[]): readonly Field[] {
  const own = fields.filter(({ readOnly, writeOnly }) => !readOnly && !writeOnly);
  const ordered = [...own.filter(({ type }) => !LAST.has(type)), ...own.filter(({ type }) => LAST.has(type))];
  const changed = fields.filter(({ name }) => name === 'updatedAt');
  return [...ordered.slice(0, MAX_COLUMNS - changed.length), ...changed];
}
