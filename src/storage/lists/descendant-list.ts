/** Loads the records below the ids of a condition on ancestors before a list, so that the list need not search the ancestors of each row. */
import { all, any, type Condition, type Path, type PathKind, type Within } from '../../conditions/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { selectDescendants } from './ancestors-target.ts';

/** Maximum records below the ids of one condition. With more of them, few rows are examined until a page is full. */
const MAX_DESCENDANTS = 1000;
/** Maximum conditions of one list that are replaced: an SQL statement has a limit on its values. */
const MAX_REPLACED = 4;

/** The condition of a list, and the kinds of its paths. */
interface DescendantList {
  readonly where: Condition;
  readonly definitions: Definitions;
  kindOf(path: Path): PathKind | undefined;
}

/**
 * Returns a condition that is true for the same records, in which comparisons of a reference with ids of descendants replace conditions on ancestors.
 * Only conditions that are not negated are replaced: a record that is not a descendant may be false or unknown, which only differs under a negation.
 */
export async function loadDescendantsOfList(tx: Transaction, list: DescendantList): Promise<Condition> {
  const found = positiveIn(list.where).slice(0, MAX_REPLACED);
  const replaced = new Map<Within, Condition>();
  for (const within of found) {
    const ids = await loadDescendants(tx, within, list);
    if (ids !== undefined) replaced.set(within, toComparison(within, ids));
  }
  return replaced.size === 0 ? list.where : replaceIn(list.where, replaced);
}

/** Returns the conditions that are not negated, and whose ids are known. The id of the listed record itself may be that of a deleted one. */
function positiveIn(condition: Condition): readonly Within[] {
  switch (condition.type) {
    case 'within':
      return condition.operand.type === 'literal' && condition.parent === undefined ? [condition] : [];
    case 'all':
    case 'any':
      return condition.of.flatMap(positiveIn);
    default:
      return [];
  }
}

function replaceIn(condition: Condition, replaced: ReadonlyMap<Within, Condition>): Condition {
  switch (condition.type) {
    case 'within':
      return replaced.get(condition) ?? condition;
    case 'all':
      return all(condition.of.map((part) => replaceIn(part, replaced)));
    case 'any':
      return any(condition.of.map((part) => replaceIn(part, replaced)));
    default:
      return condition;
  }
}

function toComparison({ path }: Within, ids: readonly string[]): Condition {
  return { type: 'comparison', path, operator: 'in', operand: { type: 'literal', value: ids }, ifExists: false };
}

/** Loads the ids of the records for which one of the literals is an ancestor; undefined if there are too many, or if a record could be damaged. */
async function loadDescendants(tx: Transaction, { path, operand }: Within, list: DescendantList): Promise<readonly string[] | undefined> {
  const resource = list.definitions.get(list.kindOf(path)?.hierarchy?.resource ?? '');
  const value = operand.type === 'literal' ? operand.value : undefined;
  const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
  if (resource === undefined || resource.checksum || ids.length > MAX_DESCENDANTS) return undefined;
  return ids.length === 0 ? [] : selectIds(tx, resource, ids);
}

async function selectIds(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<readonly string[] | undefined> {
  // A record is found once for each of its levels below the ids.
  const limit = 4 * MAX_DESCENDANTS;
  const rows = await tx.all<{ id: string }>(sql`${selectDescendants(tx.dialect, resource, ids)} LIMIT ${limit}`);
  const found = [...new Set(rows.map(({ id }) => id))];
  return rows.length === limit || found.length > MAX_DESCENDANTS ? undefined : found;
}
