import { all, type Condition, compileCondition, conditionPaths, relatedIn, relatedPaths, someIn, withinIn } from '../conditions/index.ts';
import { type Definitions, fieldAt, type Resource } from '../resources/index.ts';
import type { Transaction } from './contract.ts';
import type { ListQuery, Page, Restriction } from './list-query.ts';
import { sqlTargetFor } from './sql-target.ts';

/** A page, and the conditions that its records match. */
interface Listed {
  readonly query: ListQuery;
  readonly restrictions: readonly Restriction[];
  readonly page: Page;
}

/** Adds the records of a page to the read set if the access to them depends on other records. */
export function noteListed(tx: Transaction, resource: Resource, { query, restrictions, page }: Listed): void {
  if (!tx.validatesReads || page.records.length === 0) return;
  const { definitions, existence, now, timeZone } = query;
  const dependsOn = dependenciesOf(resource, { restrictions, definitions });
  if (dependsOn.size === 0) return;
  const decided = decidedBy(restrictions);
  const compile = (condition: Condition) => {
    const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone, existence });
    return { ...compileCondition(condition, target), tables: target.tables() };
  };
  const deciding = compile(decided);
  // Comparisons may have replaced a part that the database cannot evaluate. The statement of the list was exact.
  const { where, tables } = deciding.exact ? deciding : compile(all(restrictions.map((each) => each.where)));
  const ids = page.records.map(({ id }) => id);
  tx.addToReadSet({ relations: { lists: [{ resource, existence, tables, where, ids, dependsOn }] } });
}

/** Returns the names of the resources on whose records the access to listed records depends. */
export function dependenciesOf(
  resource: Resource,
  { restrictions, definitions }: Pick<Listed, 'restrictions'> & Pick<ListQuery, 'definitions'>,
): ReadonlySet<string> {
  const dependsOn = resourcesReadBy(all(restrictions.map(({ where }) => where)), { resource, definitions });
  // The ids of descendants may have replaced a condition on ancestors.
  for (const name of withinIn(decidedBy(restrictions)).length > 0 ? hierarchiesOf(definitions) : []) dependsOn.add(name);
  return dependsOn;
}

function decidedBy(restrictions: readonly Restriction[]): Condition {
  return all(restrictions.map((each) => each.decided ?? each.where));
}

/** Returns the names of the resources whose records a condition reads in addition to the records of its own resource. */
function resourcesReadBy(
  condition: Condition,
  { resource, definitions }: { readonly resource: Resource; readonly definitions: Definitions },
): Set<string> {
  const names = new Set<string>();
  const follow = (from: Resource | undefined, keys: readonly string[]): void => {
    for (const { target } of (from && fieldAt(definitions, from, keys)?.via) ?? []) names.add(target.name);
  };
  for (const { group, keys } of conditionPaths(condition)) if (group === 'resource') follow(resource, keys);
  for (const name of withinIn(condition).length > 0 ? hierarchiesOf(definitions) : []) names.add(name);
  for (const some of someIn(condition)) {
    names.add(some.resource);
    for (const keys of relatedPaths(some)) follow(definitions.get(some.resource), keys);
  }
  for (const related of relatedIn(condition)) {
    names.add(related.resource);
    for (const keys of relatedPaths(related)) follow(definitions.get(related.resource), keys);
  }
  return names;
}

function hierarchiesOf(definitions: Definitions): readonly string[] {
  return [...definitions.values()].filter(({ hierarchy }) => hierarchy !== undefined).map(({ name }) => name);
}
