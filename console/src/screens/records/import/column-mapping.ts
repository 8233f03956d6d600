/** Which field each column of a file is imported into. */

/** A field, as far as a mapping concerns it. */
export interface MappableField {
  readonly name: string;
  readonly required: boolean;
  readonly readOnly: boolean;
  readonly default?: unknown;
}

/** The field of each column, in the order of the columns. Null leaves a column out. */
export type ColumnMapping = readonly (string | null)[];

/** Returns a name without case, spaces, underscores and hyphens. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

/** Returns the function that finds the field that a column is probably meant for: one of the same name, if possible in the same spelling. */
export function createFieldFinder(fields: readonly Pick<MappableField, 'name'>[]): (column: string) => string | undefined {
  // Maps, because a column can be called `__proto__`.
  const exact = new Set(fields.map(({ name }) => name));
  const similar = new Map(fields.map(({ name }) => [simplify(name), name]));
  return (column) => (exact.has(column) ? column : similar.get(simplify(column)));
}

/** Suggests a field for each column. A field is suggested once: for the column with its exact name, otherwise for the first similar one. */
export function suggestMapping(columns: readonly string[], fields: readonly Pick<MappableField, 'name'>[]): ColumnMapping {
  const find = createFieldFinder(fields);
  const taken = new Set<string>();
  const take = (name: string | undefined): string | null => {
    if (name === undefined || taken.has(name)) return null;
    taken.add(name);
    return name;
  };
  const exact = columns.map((column) => (find(column) === column ? take(column) : null));
  return columns.map((column, index) => exact[index] ?? take(find(column)));
}

/** Returns the mapping with another field for a column. The column that had the field before is left out: no field has two columns. */
export function changeMapping(mapping: ColumnMapping, index: number, field: string | null): ColumnMapping {
  return mapping.map((present, at) => (at === index ? field : present === field ? null : present));
}

/** Returns true if the file can be sent unchanged: every column has the name of its field. */
export function isUnchanged(columns: readonly string[], mapping: ColumnMapping): boolean {
  return columns.every((column, index) => mapping[index] === column);
}

/** Returns the names of the columns that are left out. */
export function leftOut(columns: readonly string[], mapping: ColumnMapping): readonly string[] {
  return columns.filter((_, index) => mapping[index] === null);
}

/** Returns the fields that a new record must have, and that no column has. */
export function missingFields(fields: readonly MappableField[], mapping: ColumnMapping): readonly string[] {
  return fields
    .filter(({ name, required, readOnly, default: preset }) => required && !readOnly && preset === undefined && !mapping.includes(name))
    .map(({ name }) => name);
}
