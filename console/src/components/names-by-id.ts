/** Names that are shown instead of ids. The requests for them are loaded apart, because few conditions contain ids. */

/** Names by the ids of records and users. */
export type NamesById = Readonly<Record<string, string>>;

/** Returns the name of a record or user; undefined if it is not known. */
export function nameOf(id: string, names: NamesById): string | undefined {
  return Object.hasOwn(names, id) ? names[id] : undefined;
}

/** Returns the texts of a value that is an id, or a list of ids. */
export function idsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  return typeof value === 'string' && value !== '' ? [value] : [];
}
