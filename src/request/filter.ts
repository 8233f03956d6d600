import { describeValue, isObject, type Json } from '../operators/index.ts';
import type { Mistakes } from './mistakes.ts';
import type { FilterItem, RequestLimits } from './request.ts';
import type { QueryTree } from './route.ts';

/** Where `where` stands: a branch of the query string, or a member of a body. */
export type WhereNode = QueryTree | Json | undefined;

/**
 * Reads `where`, from either door: `{ status: 'draft', views: { gt: 3, lt: 9 } }`. A field with a plain value is
 * compared with `eq`, one with a group takes the operators named in it; all of them must hold.
 */
export function readWhere(node: WhereNode, limits: RequestLimits, mistakes: Mistakes): readonly FilterItem[] {
  if (node === undefined) return [];
  const fields = toGroup(node);
  if (fields !== undefined) return readFields({ member: 'where', fields, limits }, mistakes);
  mistakes.add(
    'where',
    'type',
    `expected fields with values, such as where[status]=draft, given ${isTree(node) ? 'a group' : describeValue(node)}`,
  );
  return [];
}

/** Reads the `filter` of createIfNotExists and updateIfExists: as `where` of a body, with at least one field. */
export function readFilterMember(filter: Json | undefined, limits: RequestLimits, mistakes: Mistakes): readonly FilterItem[] {
  const fields = isObject(filter) ? Object.entries(filter) : [];
  if (fields.length > 0) return readFields({ member: 'filter', fields, limits }, mistakes);
  mistakes.add(
    'filter',
    filter === undefined ? 'required' : 'type',
    `expected an object with at least one field, given ${isObject(filter) ? 'an empty one' : describeValue(filter)}`,
  );
  return [];
}

interface GivenFields {
  readonly member: 'where' | 'filter';
  readonly fields: readonly (readonly [string, WhereNode])[];
  readonly limits: RequestLimits;
}

function readFields({ member, fields, limits }: GivenFields, mistakes: Mistakes): readonly FilterItem[] {
  const items = fields.flatMap(([field, value]) => readField(`${member}.${field}`, { field, value }, mistakes));
  if (items.length > limits.whereItems)
    mistakes.add(member, 'count', `expected at most ${limits.whereItems} comparisons, given ${items.length}`);
  for (const { field, value } of items) {
    if (!Array.isArray(value) || value.length <= limits.filterListItems) continue;
    mistakes.add(`${member}.${field}`, 'count', `expected at most ${limits.filterListItems} values, given ${value.length}`);
  }
  return items;
}

interface GivenField {
  readonly field: string;
  readonly value: WhereNode;
}

function readField(path: string, { field, value }: GivenField, mistakes: Mistakes): readonly FilterItem[] {
  const operators = toGroup(value);
  if (operators === undefined) return [toItem(field, 'eq', value)];
  if (operators.length === 0) mistakes.add(path, 'type', 'expected a value, or operators with values, given an empty object');
  return operators.map(([operator, operand]) => toItem(field, operator, operand));
}

/** A query's names are bounded to three, so no branch can stand where an operand does; it would be no value if one did. */
function toItem(field: string, operator: string, operand: WhereNode): FilterItem {
  return { field, operator, value: operand === undefined || isTree(operand) ? null : operand };
}

/** Members of a branch or an object; undefined for anything else. */
function toGroup(node: WhereNode): readonly (readonly [string, WhereNode])[] | undefined {
  if (isTree(node)) return [...node];
  return isObject(node) ? Object.entries(node) : undefined;
}

function isTree(node: WhereNode): node is QueryTree {
  return node instanceof Map;
}
