import {
  all,
  type Condition,
  compileCondition,
  conditionPaths,
  type Path,
  relatedIn,
  relatedPaths,
  someIn,
  withinIn,
} from '../../conditions/index.ts';
import { type Definitions, fieldAt, hasIndexOn, type Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { type ListComparison, stampOf } from '../related/relation-reads.ts';
import { columnOf, recordsOf, tableOf } from '../table-names.ts';
import type { ListQuery, Page, Restriction } from './list-query.ts';
import { type ResourceTarget, sqlTargetFor } from './sql-target.ts';

/** A page, and the conditions that its records match. */
interface Listed {
  readonly query: Pick<ListQuery, 'definitions' | 'existence' | 'now' | 'timeZone'>;
  readonly restrictions: readonly Pick<Restriction, 'where' | 'decided'>[];
  /** The names of the resources on whose records the access depends. */
  readonly dependsOn: ReadonlySet<string>;
  readonly page: Pick<Page, 'records'>;
  /** The same as that of `ListRead`. */
  readonly marks?: string | undefined;
}

/** Adds the records of a page to the read set if the access to them depends on other records. */
export async function noteListed(tx: Transaction, resource: Resource, listed: Listed): Promise<void> {
  const { dependsOn, page } = listed;
  if (!tx.validatesReads || page.records.length === 0 || dependsOn.size === 0) return;
  // On SQLite, all statements of the attempt see one snapshot, so its write marks can be loaded after the records.
  const marks = tx.dialect.name === 'sqlite' ? await tx.loadWriteState(dependsOn) : listed.marks;
  const toComparison = (): ListComparison => compareListed(tx.dialect, resource, listed);
  // The comparison has the conditions that decided, or if the database cannot evaluate them exactly, those of the list.
  const needsScans = (): boolean =>
    listed.restrictions.some(({ where, decided = where }) => [where, decided].some((each) => findsWithoutIndex(each, listed.query)));
  tx.addToReadSet({ relations: { lists: [{ resource, records: page.records, dependsOn, marks, toComparison, needsScans }] } });
}

/** Returns true if a condition finds related records without an index. */
function findsWithoutIndex(condition: Condition, { definitions }: Pick<ListQuery, 'definitions'>): boolean {
  return relatedIn(condition).some(({ resource: name, on }) => {
    const resource = definitions.get(name);
    return resource !== undefined && !on.some(({ path }) => hasIndexOn(resource, path.keys.slice(1, 2)));
  });
}

/** Compiles the conditions of a list for the comparison of its records with the current ones. */
function compareListed(dialect: Transaction['dialect'], resource: Resource, { query, restrictions }: Listed): ListComparison {
  const { definitions, existence, now, timeZone } = query;
  const decided = decidedBy(restrictions);
  const compile = (condition: Condition) => {
    const target = sqlTargetFor(resource, definitions, { dialect, now, timeZone, existence });
    const compiled = { ...compileCondition(condition, target), ...ownTextsOf(condition, { resource, target }) };
    return { ...compiled, tables: target.tables(comparedRecords(dialect, resource, existence)) };
  };
  const deciding = compile(decided);
  // Comparisons may have replaced a part that the database cannot evaluate. The statement of the list was exact.
  return deciding.exact ? deciding : compile(all(restrictions.map((each) => each.where)));
}

/** Returns the FROM item of the compared records. On SQLite, each of them has a deadline check, because no other request is answered meanwhile. */
function comparedRecords(dialect: Transaction['dialect'], resource: Resource, existence: ListQuery['existence']): Sql {
  if (dialect.name === 'postgres') return recordsOf(resource, { existence });
  return recordsOf(resource, { existence, check: dialect.deadlineCheck(tableOf(resource), 1) });
}

/**
 * Returns the fields of the listed records that the condition reads; the stamps of the records if one of these fields is no text. The commit compares the
 * current record with the condition, but the answer contains the record as it was read. The two may differ: a record can move from an
 * organisation of which the caller was a member to another one of which the caller still is.
 */
function ownTextsOf(
  condition: Condition,
  { resource, target }: { readonly resource: Resource; readonly target: ResourceTarget },
): Pick<ListComparison, 'texts' | 'valuesOf'> {
  const fields = new Set(conditionPaths(condition).flatMap(({ group, keys }) => (group === 'resource' ? [keys[0] ?? ''] : [])));
  // An id does not change.
  fields.delete('id');
  const names = [...fields];
  const columns = names.map((name) => target.column({ group: 'resource', keys: [name], text: `resource.${name}` }));
  const texts = columns.flatMap((column) => (column?.kind === 'text' ? column.sql : []));
  if (texts.length === names.length)
    return { texts, valuesOf: (record) => names.map((name) => (record[name] as string | undefined) ?? null) };
  const stamp = sql`CAST(${columnOf(resource, 'version')} AS TEXT) || ' ' || ${columnOf(resource, 'updatedAt')}`;
  return { texts: [stamp], valuesOf: (record) => [stampOf(record)] };
}

/** Returns the names of the resources on whose records the access to listed records depends. `reads` are those that the conditions of the list read. */
export function dependenciesOf(
  reads: ReadonlySet<string>,
  { restrictions, definitions }: Pick<Listed, 'restrictions'> & Pick<ListQuery, 'definitions'>,
): ReadonlySet<string> {
  // The ids of descendants may have replaced a condition on ancestors.
  const replaced = restrictions.flatMap(({ where, decided = where }) => (decided === where ? [] : withinIn(decided)));
  return replaced.length === 0 ? reads : new Set([...reads, ...hierarchiesOf(definitions)]);
}

function decidedBy(restrictions: Listed['restrictions']): Condition {
  return all(restrictions.map((each) => each.decided ?? each.where));
}

/** The resource and the paths of a condition. */
interface ReadingCondition extends Pick<ListQuery, 'definitions'> {
  readonly resource: Resource;
  readonly paths?: readonly Path[];
}

/** Returns the names of the resources whose records a condition reads in addition to the records of its own resource. */
export function resourcesReadBy(condition: Condition, reading: ReadingCondition): ReadonlySet<string> {
  return new Set([...resourcesReachedBy(condition, reading), ...relatedIn(condition).map((related) => related.resource)]);
}

/** Returns the names of the resources whose records a condition finds by an id: by a reference, in a list of references, or as ancestors. */
export function resourcesReachedBy(
  condition: Condition,
  { resource, definitions, paths = conditionPaths(condition) }: ReadingCondition,
): ReadonlySet<string> {
  const names = new Set<string>();
  const follow = (from: Resource | undefined, keys: readonly string[]): void => {
    for (const { target } of (from && fieldAt(definitions, from, keys)?.via) ?? []) names.add(target.name);
  };
  for (const { group, keys } of paths) if (group === 'resource') follow(resource, keys);
  for (const name of withinIn(condition).length > 0 ? hierarchiesOf(definitions) : []) names.add(name);
  for (const some of someIn(condition)) {
    names.add(some.resource);
    for (const keys of relatedPaths(some)) follow(definitions.get(some.resource), keys);
  }
  for (const related of relatedIn(condition)) for (const keys of relatedPaths(related)) follow(definitions.get(related.resource), keys);
  return names;
}

function hierarchiesOf(definitions: Definitions): readonly string[] {
  return [...definitions.values()].filter(({ hierarchy }) => hierarchy !== undefined).map(({ name }) => name);
}
