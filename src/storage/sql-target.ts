import { type Condition, compileCondition, type Path, type SqlTarget } from '../conditions/index.ts';
import type { SqlColumn, SqlDialect } from '../operators/index.ts';
import { columnsOf, type Definitions, type FieldAt, fieldAt, fieldKind, type Resource, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import { type Existence, quoteName, recordsOf } from './table-names.ts';

/** When and where a condition is answered. */
export interface Moment {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
  /** Which records of the resource; what they refer to is always looked for among those that there are. */
  readonly existence?: Existence | undefined;
}

/** A resource's columns as conditions see them. */
export interface ResourceTarget extends SqlTarget {
  /**
   * The tables that the columns asked for so far stand in: the resource's own, joined with those that its references lead to.
   * In place of the resource's own may stand what is named like it and has its columns.
   */
  tables(own?: Sql): Sql;
}

/** Databases bound the tables of one statement (SQLite: 64). What lies behind further references is for memory to look at. */
const MAX_JOINS = 32;

/**
 * A resource's columns, and those of the records it refers to, as conditions see them. Whatever is not a shown field of
 * its definition has none: a secret.
 */
export function sqlTargetFor(resource: Resource, definitions: Definitions, { existence, ...moment }: Moment): ResourceTarget {
  const joins = new Map<string, Sql>();
  const find = (path: Path): { readonly subject: SqlColumn | undefined; readonly inner: readonly string[] } | undefined => {
    const reached = reachedBy(resource, definitions, path);
    if (reached === undefined || fieldKind(reached.field) === undefined) return undefined;
    const { via, of, inner } = reached;
    const table = via === undefined ? resource.name : aliasOf(resource, via.name);
    if (via !== undefined && !joins.has(table)) {
      if (joins.size === MAX_JOINS) return undefined;
      joins.set(table, joinOf(resource, via.name, of));
    }
    return { subject: subjectOf(reached, table), inner };
  };
  return {
    ...moment,
    kindOf: (path) => targetKindOf(resource, definitions, path),
    column(path) {
      const found = find(path);
      return found?.inner.length === 0 ? found.subject : undefined;
    },
    json(path) {
      const { subject, inner } = find(path) ?? {};
      return subject?.kind === 'json' && inner !== undefined ? { document: subject.sql, keys: inner } : undefined;
    },
    tables: (own = recordsOf(resource, { existence })) => sql.join([own, ...joins.values()], sql` `),
  };
}

/** What the definition says a path of the record compares as. */
export function targetKindOf(resource: Resource, definitions: Definitions, path: Path): ReturnType<typeof fieldKind> {
  const reached = reachedBy(resource, definitions, path);
  return reached === undefined || reached.inner.length > 0 ? undefined : fieldKind(reached.field);
}

function reachedBy(resource: Resource, definitions: Definitions, { group, keys }: Path): FieldAt | undefined {
  return group === 'resource' ? fieldAt(definitions, resource, keys) : undefined;
}

/** A name has no dot, so no table is called so: a resource that refers to itself is joined with itself. */
function aliasOf(resource: Resource, reference: string): string {
  return `${resource.name}.${reference}`;
}

/** A LEFT JOIN: without a living record at its end, a reference leads to columns without values, and those are unknown. */
function joinOf(resource: Resource, reference: string, target: Resource): Sql {
  const as = aliasOf(resource, reference);
  const own = `${quoteName(resource.name)}.${quoteName(reference)}`;
  return sql`LEFT JOIN ${recordsOf(target, { as })} ON ${sql.raw(`${quoteName(as)}."id" = ${own}`)}`;
}

function subjectOf({ field, of }: FieldAt, table: string): SqlColumn | undefined {
  const kind = fieldKind(field);
  const column = columnsOf(of).find(({ name }) => name === field.name);
  if (kind === undefined || column === undefined) return undefined;
  const item = field.of ?? field;
  const type = typeOf(item);
  return {
    sql: sql.raw(`${quoteName(table)}.${quoteName(column.name)}`),
    ...kind,
    encode: (value) => type.toColumn(type.toCanonical?.(value, item) ?? value, item),
    isIndexed: (stored): stored is string | number | bigint =>
      of.indexes.some(({ where = {} }) => Object.hasOwn(where, field.name) && type.toColumn(where[field.name] ?? null, item) === stored),
  };
}

/** Returns whether the database evaluates a condition on a resource's fields exactly. */
export function isSaidInSql(condition: Condition, resource: Resource, moment: Moment & { readonly definitions: Definitions }): boolean {
  return compileCondition(condition, sqlTargetFor(resource, moment.definitions, moment)).exact;
}
