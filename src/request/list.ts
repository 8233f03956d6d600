import { describeValue, type Json } from '../operators/index.ts';
import { readBoolean, toBoolean } from './booleans.ts';
import { readWhere, type WhereNode } from './filter.ts';
import type { Mistakes } from './mistakes.ts';
import { textAt } from './query.ts';
import type { ApiRequest, RequestLimits, SortKey } from './request.ts';
import type { QueryTree } from './route.ts';
import { readShownPart, type ShownMembers, type ShownPart, toShownMembers } from './shown.ts';

/** What a list takes, by the names that a query and a body share. */
export interface ListMembers extends ShownMembers {
  readonly where?: WhereNode;
  readonly sort?: Json | undefined;
  readonly limit?: Json | undefined;
  readonly offset?: Json | undefined;
  readonly cursor?: Json | undefined;
  readonly total?: Json | undefined;
}

/** What a list asks for. */
export type ListPart = Pick<ApiRequest, 'where' | 'sort' | 'limit' | 'offset' | 'cursor' | 'total'> & ShownPart;

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
export function readListPart(given: ListMembers, { limits, limitMax }: ListBounds, mistakes: Mistakes): ListPart {
  if (given.offset !== undefined && given.cursor !== undefined)
    mistakes.add('cursor', 'duplicate', 'expected cursor or offset, both were given');
  return {
    where: readWhere(given.where, limits, mistakes),
    sort: readSort(given.sort, limits, mistakes),
    limit: readWhole({ name: 'limit', from: 1, to: limitMax, given: given.limit }, mistakes),
    offset: readWhole({ name: 'offset', from: 0, to: MAX_OFFSET, given: given.offset }, mistakes),
    cursor: readCursor(given.cursor, mistakes),
    total: readBoolean('total', { given: given.total, otherwise: false }, mistakes),
    ...readShownPart(given, mistakes),
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
    ...toShownMembers(query),
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
