/** Joins a table with the records that its references lead to. */
import type { SqlColumn } from '../../operators/index.ts';
import { type FieldAt, type FollowedField, fieldKind, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { quoteName, recordsOf } from '../table-names.ts';

/** Maximum joins of a statement; SQLite allows 64 tables. Conditions on further references are evaluated in memory. */
const MAX_JOINS = 32;

/** The joins of a statement with the records that references lead to. */
export interface Joins {
  /** The FROM items of the joins so far, in an order in which each refers only to earlier ones. */
  readonly items: readonly Sql[];
  /**
   * Joins the records that references lead to. Returns the alias of the resource and those of the records, in order; undefined if the condition
   * must be evaluated in memory.
   */
  follow(references: readonly FollowedField[]): readonly string[] | undefined;
}

/**
 * Creates the joins of a table with the rows of a resource. LEFT JOINs: a reference to no record, or to a soft-deleted one, gives NULLs, and comparisons with them
 * are unknown.
 */
export function createJoins(table: string): Joins {
  const aliasByPath = new Map<string, string>();
  const items: Sql[] = [];

  function join(path: string, from: string, { field, target }: FollowedField): string {
    // It differs from every table, because names contain no dots: a resource that references itself is joined with itself.
    const alias = path.length <= MAX_ALIAS ? path : `${table.slice(0, MAX_ALIAS / 2)}.${aliasByPath.size + 1}`;
    const reference = `${quoteName(from)}.${quoteName(field.name)}`;
    items.push(sql`LEFT JOIN ${recordsOf(target, { as: alias })} ON ${sql.raw(`${quoteName(alias)}."id" = ${reference}`)}`);
    aliasByPath.set(path, alias);
    return alias;
  }

  return {
    items,
    follow(references) {
      // A join cannot compare checksums, so the condition is evaluated in memory, on referenced records that were compared.
      if (references.some(({ field, target }) => field.writeOnly || target.checksum)) return undefined;
      let path = table;
      const aliases = [table];
      for (const followed of references) {
        const from = aliases.at(-1) ?? table;
        path = `${path}.${followed.field.name}`;
        const known = aliasByPath.get(path);
        if (known === undefined && aliasByPath.size === MAX_JOINS) return undefined;
        aliases.push(known ?? join(path, from, followed));
      }
      return aliases;
    },
  };
}

/** Maximum characters of an alias. PostgreSQL cuts longer identifiers off, and two of them could then be equal. */
const MAX_ALIAS = 63;

/** Returns the column of a field in a table; undefined if no column holds its values. */
function subjectOf({ field, of }: FieldAt, table: string): SqlColumn | undefined {
  const kind = fieldKind(field);
  if (kind === undefined || !of.fields.has(field.name)) return undefined;
  const item = field.of ?? field;
  const type = typeOf(item);
  return {
    sql: sql.raw(`${quoteName(table)}.${quoteName(field.name)}`),
    ...kind,
    encode: (value) => type.toColumn(type.toCanonical?.(value, item) ?? value, item),
    isIndexed: (stored): stored is string | number | bigint =>
      of.indexes.some(({ where = {} }) => Object.hasOwn(where, field.name) && type.toColumn(where[field.name] ?? null, item) === stored),
  };
}

/** A column that a path reaches, and the keys of the path inside its value. */
export interface FoundColumn {
  readonly subject: SqlColumn | undefined;
  readonly inner: readonly string[];
}

/** Returns the column of a field, joining the records on its way; undefined if the condition must be evaluated in memory. */
export function findColumn(reached: FieldAt | undefined, joins: Joins): FoundColumn | undefined {
  if (reached === undefined || fieldKind(reached.field) === undefined) return undefined;
  const table = joins.follow(reached.via)?.at(-1);
  return table === undefined ? undefined : { subject: subjectOf(reached, table), inner: reached.inner };
}
