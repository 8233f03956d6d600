/** The paths and the related records that a condition reads. */
import { type Json, OPERATORS } from '../operators/index.ts';
import type { Condition, Operand, Path, Related, Some, Within } from './condition.ts';

/** Returns every path that a condition reads, except those of related records, once, in the order of the first occurrence. */
export function conditionPaths(condition: Condition): readonly Path[] {
  const found = new Map<string, Path>();
  for (const path of pathsOf(condition)) if (path.group !== 'related' && !found.has(path.text)) found.set(path.text, path);
  return [...found.values()];
}

/** Returns the keys after the alias of every path that a condition reads of its related records, or of the records of its list, once. */
export function relatedPaths(condition: Related | Some): readonly (readonly string[])[] {
  const { as, where } = condition;
  const links = condition.type === 'related' ? condition.on.map(({ path }) => path) : [];
  const found = new Map<string, readonly string[]>();
  for (const { group, keys, text } of [...links, ...pathsOf(where)]) {
    if (group === 'related' && keys[0] === as) found.set(text, keys.slice(1));
  }
  return [...found.values()];
}

/** Returns the name of the records that a condition counts: their resource and links. No path has such a name. */
export function relatedName({ resource, on }: Related, values: readonly Json[]): string {
  const links = on.map(({ path }, index) => [path.keys[1], values[index]] as const);
  return `related ${resource} ${JSON.stringify(Object.fromEntries(links))}`;
}

/** In the values that an audit entry keeps of a related record, the member that lists the paths without a value. It is not a valid path. */
export const WITHOUT_VALUE = '(missing)';

/** Returns the name of a record with its ancestors. No path has such a name. */
export function ancestorsName(resource: string, id: string): string {
  return `ancestors ${resource} ${JSON.stringify(id)}`;
}

/** Returns the name of a record of a list. No path has such a name. */
export function itemName(resource: string, id: string): string {
  return `item ${resource} ${JSON.stringify(id)}`;
}

/** Returns the conditions on related records in a condition, each before those in its `where`. */
export function relatedIn(condition: Condition): readonly Related[] {
  switch (condition.type) {
    case 'related':
      return [condition, ...relatedIn(condition.where)];
    case 'not':
      return relatedIn(condition.of);
    case 'all':
    case 'any':
      return condition.of.flatMap(relatedIn);
    default:
      return [];
  }
}

/** Returns the conditions on ancestors in a condition, also those on ancestors of related records. */
export function withinIn(condition: Condition): readonly Within[] {
  switch (condition.type) {
    case 'within':
      return [condition];
    case 'related':
    case 'some':
      return withinIn(condition.where);
    case 'not':
      return withinIn(condition.of);
    case 'all':
    case 'any':
      return condition.of.flatMap(withinIn);
    default:
      return [];
  }
}

/** Returns the comparisons through lists of references in a condition, each before those in its `where`. */
export function someIn(condition: Condition): readonly Some[] {
  switch (condition.type) {
    case 'some':
      return [condition, ...someIn(condition.where)];
    case 'related':
      return someIn(condition.where);
    case 'not':
      return someIn(condition.of);
    case 'all':
    case 'any':
      return condition.of.flatMap(someIn);
    default:
      return [];
  }
}

/** Returns true if a condition reads records that are loaded while it is evaluated: related records, ancestors, or records of lists. */
export function readsOtherRecords(condition: Condition): boolean {
  return relatedIn(condition).length > 0 || withinIn(condition).length > 0 || someIn(condition).length > 0;
}

function pathsOf(condition: Condition): readonly Path[] {
  switch (condition.type) {
    case 'constant':
      return [];
    case 'comparison':
      return [condition.path, ...operandPaths(condition.operand)];
    case 'expression':
      return condition.paths;
    case 'within':
      return [condition.path, ...(condition.parent === undefined ? [] : [condition.parent]), ...operandPaths(condition.operand)];
    case 'related':
      return [...condition.on.flatMap(({ path, operand }) => [path, ...operandPaths(operand)]), ...pathsOf(condition.where)];
    case 'some':
      return [condition.path, ...pathsOf(condition.where)];
    case 'not':
      return pathsOf(condition.of);
    default:
      return condition.of.flatMap(pathsOf);
  }
}

/** Returns the paths whose comparisons depend on the configured time zone. */
export function zonedPaths(condition: Condition): readonly Path[] {
  switch (condition.type) {
    case 'constant':
    case 'expression':
    case 'within':
      // An expression names the time zone itself.
      return [];
    case 'comparison':
      return OPERATORS.get(condition.operator)?.readsTimeZone === true ? [condition.path] : [];
    case 'related':
    case 'some':
      return zonedPaths(condition.where);
    case 'not':
      return zonedPaths(condition.of);
    default:
      return condition.of.flatMap(zonedPaths);
  }
}

/** Returns every path that an operand refers to. */
export function operandPaths(operand: Operand): readonly Path[] {
  switch (operand.type) {
    case 'literal':
      return [];
    case 'reference':
      return [operand.path];
    case 'template':
      return operand.parts.filter((part) => typeof part !== 'string');
    case 'array':
      return operand.items.flatMap(operandPaths);
    case 'computed':
      return operand.paths;
  }
}
