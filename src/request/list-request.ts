import { describeValue, isObject, type Json } from '../operators/index.ts';
import type { ApiRequest, FilterItem, RequestLimits, SortKey } from './api-request.ts';
import type { QueryTree } from './http-messages.ts';
import { parseBoolean, textAt, toBoolean } from './query-string.ts';
import type { Mistakes } from './request-mistakes.ts';
import { type ProjectionMembers, type ProjectionPart, parseProjectionPart, toProjectionMembers } from './requested-projection.ts';

/** What a list takes, by the names that a query and a body share. */
export interface ListMembers extends ProjectionMembers {
  readonly where?: WhereNode;
  readonly sort?: Json | undefined;
  readonly limit?: Json | undefined;
  readonly offset?: Json | undefined;
  readonly cursor?: Json | undefined;
  readonly total?: Json | undefined;
}

/** What a list asks for. */
export type ListPart = Pick<ApiRequest, 'where' | 'sort' | 'limit' | 'offset' | 'cursor' | 'total'> & ProjectionPart;

/** Names of `ListMembers`, as a query may use them. */
export const LIST_NAMES = ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields', 'expand'] as const;

const MAX_OFFSET = 1_000_000_000;
const MAX_CURSOR = 4096;

/** Bounds of one list: `limitMax` is larger for exports. */
export interface ListBounds {
  readonly limits: RequestLimits;
  readonly limitMax: number;
}

/** Reads what a list asks for, noting every mistake. */
export function parseListPart(given: ListMembers, { limits, limitMax }: ListBounds, mistakes: Mistakes): ListPart {
  if (given.offset !== undefined && given.cursor !== undefined)
    mistakes.add('cursor', 'duplicate', 'expected cursor or offset, both were given');
  return {
    where: parseWhere(given.where, limits, mistakes),
    sort: readSort(given.sort, limits, mistakes),
    limit: readWhole({ name: 'limit', from: 1, to: limitMax, given: given.limit }, mistakes),
    offset: readWhole({ name: 'offset', from: 0, to: MAX_OFFSET, given: given.offset }, mistakes),
    cursor: readCursor(given.cursor, mistakes),
    total: parseBoolean('total', { given: given.total, otherwise: false }, mistakes),
    ...parseProjectionPart(given, mistakes),
  };
}

/** A query's members, its texts read as the numbers and booleans that they plainly are: `1e3`, ` 5` and `0x1` are not. */
export function toListMembers(query: QueryTree): ListMembers {
  const text = (name: string): Json | undefined => textAt(query, name);
  return {
    where: query.get('where'),
    sort: text('sort'),
    limit: toNumber(text('limit')),
    offset: toNumber(text('offset')),
    cursor: text('cursor'),
    total: toBoolean(text('total')),
    ...toProjectionMembers(query),
  };
}

function toNumber(text: Json | undefined): Json | undefined {
  return typeof text === 'string' && /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

interface Whole {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly given: Json | undefined;
}

function readWhole({ name, from, to, given }: Whole, mistakes: Mistakes): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isInteger(given) && given >= from && given <= to) return given;
  mistakes.add(
    name,
    typeof given === 'number' ? 'range' : 'type',
    `expected a whole number from ${from} to ${to}, given ${describeValue(given)}`,
  );
  return undefined;
}

/** `-createdAt,name`; in a body also `["-createdAt", "name"]`. */
function readSort(given: Json | undefined, limits: RequestLimits, mistakes: Mistakes): readonly SortKey[] {
  if (given === undefined) return [];
  const parts: readonly Json[] = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [null];
  const keys = parts.map((part) => (typeof part === 'string' ? toSortKey(part) : undefined));
  const sound = keys.filter((key) => key !== undefined);
  if (sound.length < keys.length) mistakes.add('sort', 'type', 'expected field names separated by commas, such as -createdAt,name');
  if (keys.length > limits.sortKeys) mistakes.add('sort', 'count', `expected at most ${limits.sortKeys} fields, given ${keys.length}`);
  const twice = sound.find((key, index) => sound.findIndex((other) => other.field === key.field) < index);
  if (twice !== undefined) mistakes.add('sort', 'duplicate', `expected each field once, ${describeValue(twice.field)} was given twice`);
  return sound;
}

function toSortKey(part: string): SortKey | undefined {
  const descending = part.startsWith('-');
  const field = descending ? part.slice(1) : part;
  return field === '' || field !== field.trim() ? undefined : { field, descending };
}

function readCursor(given: Json | undefined, mistakes: Mistakes): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_CURSOR) return given;
  mistakes.add('cursor', 'type', 'expected nextCursor of the page before');
  return undefined;
}

/** Where `where` stands: a branch of the query string, or a member of a body. */
export type WhereNode = QueryTree | Json | undefined;

/**
 * Reads `where`, from either door: `{ status: 'draft', views: { gt: 3, lt: 9 } }`. A field with a plain value is
 * compared with `eq`, one with a group takes the operators named in it; all of them must hold.
 */
export function parseWhere(node: WhereNode, limits: RequestLimits, mistakes: Mistakes): readonly FilterItem[] {
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
export function parseFilterMember(filter: Json | undefined, limits: RequestLimits, mistakes: Mistakes): readonly FilterItem[] {
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
