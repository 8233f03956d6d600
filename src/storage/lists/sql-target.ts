import { type Condition, compileCondition, type Path, type SqlTarget } from '../../conditions/index.ts';
import type { SqlDialect } from '../../operators/index.ts';
import { type Definitions, type FieldAt, fieldAt, type fieldKind, kindAt, type Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { createJoins, type FoundColumn, findColumn } from '../related/reference-joins.ts';
import { type Existence, quoteName, recordsOf } from '../table-names.ts';
import { createAncestorsTarget } from './ancestors-target.ts';
import { createItemsTarget } from './items-target.ts';
import { createRelatedTarget } from './related-target.ts';

/** Options for compiling a condition to SQL. */
export interface SqlTargetOptions {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA time zone. */
  readonly timeZone: string;
  /** The records of the resource to read; references always lead to records that are not deleted. */
  readonly existence?: Existence | undefined;
  /** True to find the related records of all rows with one search where this is possible; otherwise, they are searched for each row. */
  readonly searchesForAllRows?: boolean;
}

/** The columns of a resource that conditions can use. */
export interface ResourceTarget extends SqlTarget {
  /**
   * Returns the FROM items of the columns used so far: the table of the resource joined with those of its references. `own` replaces the
   * table of the resource by a subquery with the same name and columns.
   */
  tables(own?: Sql): Sql;
}

/**
 * Creates the SQL target of a resource and the records that it references. Fields that are not readable, such as secrets, have no column.
 */
export function sqlTargetFor(resource: Resource, definitions: Definitions, options: SqlTargetOptions): ResourceTarget {
  const joins = createJoins(resource.name);
  const find = (path: Path): FoundColumn | undefined => findColumn(reachedBy(resource, definitions, path), joins);
  const target: ResourceTarget = {
    ...options,
    kindOf: (path) => targetKindOf(resource, definitions, path),
    ancestors: (within) => createAncestorsTarget(within, target, definitions),
    related: (related) =>
      createRelatedTarget(related, { outer: target, definitions, decided: resource, searchesForAllRows: options.searchesForAllRows }),
    items: (some) => createItemsTarget(some, { outer: target, definitions }),
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
  return target;
}

/** The transaction of a list. */
type ListTransaction = Pick<Transaction, 'dialect' | 'validatesReads'>;

/**
 * Returns true if one search in the statement of a list can find the related records of all rows. A long attempt on SQLite loads them
 * before, so that the writer, which validates them, compares at most those that were loaded.
 */
export function findsForAllRows({ dialect, validatesReads }: ListTransaction): boolean {
  return dialect.name === 'postgres' || !validatesReads;
}

/** Creates the SQL target of a list. */
export function listTargetFor(
  tx: ListTransaction,
  resource: Resource,
  { definitions, ...options }: Omit<ConditionMoment, 'dialect'>,
): ResourceTarget {
  return sqlTargetFor(resource, definitions, { ...options, dialect: tx.dialect, searchesForAllRows: findsForAllRows(tx) });
}

/** Returns the kind of values at a path of the record, from its definition. */
export function targetKindOf(resource: Resource, definitions: Definitions, path: Path): ReturnType<typeof fieldKind> {
  const reached = reachedBy(resource, definitions, path);
  return reached === undefined || reached.inner.length > 0 ? undefined : kindAt(definitions, reached);
}

function reachedBy(resource: Resource, definitions: Definitions, { group, keys }: Path): FieldAt | undefined {
  return group === 'resource' ? fieldAt(definitions, resource, keys) : undefined;
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
