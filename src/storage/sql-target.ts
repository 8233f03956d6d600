import { type Condition, compileCondition, type Path, type SqlTarget } from '../conditions/index.ts';
import type { SqlColumn, SqlDialect } from '../operators/index.ts';
import { type Definitions, type FieldAt, type FollowedField, fieldAt, fieldKind, type Resource, typeOf } from '../resources/index.ts';
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
export function sqlTargetFor(resource: Resource, definitions: Definitions, options: SqlTargetOptions): ResourceTarget {
  const joins = createJoins(resource);
  const find = (path: Path): { readonly subject: SqlColumn | undefined; readonly inner: readonly string[] } | undefined => {
    const reached = reachedBy(resource, definitions, path);
    if (reached === undefined || fieldKind(reached.field) === undefined) return undefined;
    const aliases = joins.follow(reached.via);
    const table = aliases?.at(-1);
    return table === undefined ? undefined : { subject: subjectOf(reached, table), inner: reached.inner };
  };
  return {
    ...options,
    kindOf: (path) => targetKindOf(resource, definitions, path),
    column(path) {
      const found = find(path);
      return found?.inner.length === 0 ? found.subject : undefined;
    },
    json(path) {
      const { subject, inner } = find(path) ?? {};
      return subject?.kind === 'json' && inner !== undefined ? { document: subject.sql, keys: inner } : undefined;
    },
    joined(path) {
      const aliases = joins.follow(reachedBy(resource, definitions, path)?.via ?? []) ?? [];
      // An id is equal to itself, or missing.
      const between = aliases.slice(1, -1).map((alias) => sql.raw(`${quoteName(alias)}."id" = ${quoteName(alias)}."id"`));
      return between.length === 0 ? undefined : sql.join(between, sql` AND `);
    },
    tables(own = recordsOf(resource, options)) {
      return joins.items.length === 0 ? own : sql.join([own, ...joins.items], sql` `);
    },
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

/** The joins of a statement with the records that references lead to. */
interface Joins {
  /** The FROM items of the joins so far, in an order in which each refers only to earlier ones. */
  readonly items: readonly Sql[];
  /**
   * Joins the records that references lead to. Returns the alias of the resource and those of the records, in order; undefined if the condition
   * must be evaluated in memory.
   */
  follow(references: readonly FollowedField[]): readonly string[] | undefined;
}

/**
 * Creates the joins of a resource. LEFT JOINs: a reference to no record, or to a soft-deleted one, gives NULLs, and comparisons with them
 * are unknown.
 */
function createJoins(resource: Resource): Joins {
  const aliasByPath = new Map<string, string>();
  const items: Sql[] = [];

  function join(path: string, from: string, { field, target }: FollowedField): string {
    // It differs from every table, because names contain no dots: a resource that references itself is joined with itself.
    const alias = path.length <= MAX_ALIAS ? path : `${resource.name.slice(0, MAX_ALIAS / 2)}.${aliasByPath.size + 1}`;
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
      let path = resource.name;
      const aliases = [resource.name];
      for (const followed of references) {
        const from = aliases.at(-1) ?? resource.name;
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
