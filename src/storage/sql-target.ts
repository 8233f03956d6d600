import { type Condition, compileCondition, type Path, type SqlTarget } from '../conditions/index.ts';
import type { SqlColumn, SqlDialect } from '../operators/index.ts';
import { columnsOf, type Definitions, type FieldAt, fieldAt, fieldKind, type Resource, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import { type Existence, quoteName, recordsOf } from './table-names.ts';

/** Options for compiling a condition to SQL. */
export interface SqlTargetOptions {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA time zone. */
  readonly timeZone: string;
  /** The records of the resource to read; references always lead to records that are not deleted. */
  readonly existence?: Existence | undefined;
}

/** The columns of a resource that conditions can use. */
export interface ResourceTarget extends SqlTarget {
  /**
   * Returns the FROM items of the columns used so far: the table of the resource joined with those of its references. `own` replaces the
   * table of the resource by a subquery with the same name and columns.
   */
  tables(own?: Sql): Sql;
}

/** Maximum joins of a statement; SQLite allows 64 tables. Conditions on further references are evaluated in memory. */
const MAX_JOINS = 32;

/**
 * Creates the SQL target of a resource and the records that it references. Fields that are not readable, such as secrets, have no column.
 */
export function sqlTargetFor(resource: Resource, definitions: Definitions, { existence, ...moment }: SqlTargetOptions): ResourceTarget {
  const joins = new Map<string, Sql>();
  const find = (path: Path): { readonly subject: SqlColumn | undefined; readonly inner: readonly string[] } | undefined => {
    const reached = reachedBy(resource, definitions, path);
    if (reached === undefined || fieldKind(reached.field) === undefined) return undefined;
    const { via, of, inner } = reached;
    // A join cannot compare checksums, so the condition is evaluated in memory, on referenced records that were compared.
    if (via !== undefined && of.checksum) return undefined;
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

/** Returns the kind of values at a path of the record, from its definition. */
export function targetKindOf(resource: Resource, definitions: Definitions, path: Path): ReturnType<typeof fieldKind> {
  const reached = reachedBy(resource, definitions, path);
  return reached === undefined || reached.inner.length > 0 ? undefined : fieldKind(reached.field);
}

function reachedBy(resource: Resource, definitions: Definitions, { group, keys }: Path): FieldAt | undefined {
  return group === 'resource' ? fieldAt(definitions, resource, keys) : undefined;
}

/**
 * Returns the alias of a joined table. It differs from every table, because names contain no dots: a resource that references itself is
 * joined with itself.
 */
function aliasOf(resource: Resource, reference: string): string {
  return `${resource.name}.${reference}`;
}

/** Renders a LEFT JOIN: a reference to no record, or to a soft-deleted one, gives NULLs, and comparisons with them are unknown. */
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

/** The definitions and the moment for which a condition is compiled. */
type ConditionMoment = SqlTargetOptions & { readonly definitions: Definitions };

/** Returns whether the database evaluates a condition on a resource's fields exactly. */
export function isExactInSql(condition: Condition, resource: Resource, moment: ConditionMoment): boolean {
  return exactFilter(condition, resource, moment) !== undefined;
}

/** Returns a condition on a resource's fields in SQL; undefined if the database cannot evaluate it exactly. */
export function exactFilter(condition: Condition, resource: Resource, moment: ConditionMoment): Sql | undefined {
  const { where, exact } = compileCondition(condition, sqlTargetFor(resource, moment.definitions, moment));
  return exact ? where : undefined;
}
