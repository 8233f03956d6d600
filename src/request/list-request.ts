import { describeValue, type Json } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { type ProjectionMembers, type ProjectionPart, parseProjection, toProjectionMembers } from './projection.ts';
import { parseBoolean, type QueryTree, textAt, toBoolean } from './query-string.ts';
import type { RequestLimits } from './request-limits.ts';
import type { Mistakes } from './request-mistakes.ts';
import { parseSort } from './sort.ts';
import { parseWhere, type WhereNode } from './where.ts';

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
    sort: parseSort(given.sort, limits, mistakes),
    limit: readWhole({ name: 'limit', from: 1, to: limitMax, given: given.limit }, mistakes),
    offset: readWhole({ name: 'offset', from: 0, to: MAX_OFFSET, given: given.offset }, mistakes),
    cursor: readCursor(given.cursor, mistakes),
    total: parseBoolean('total', { given: given.total, otherwise: false }, mistakes),
    ...parseProjection(given, mistakes),
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

function readCursor(given: Json | undefined, mistakes: Mistakes): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_CURSOR) return given;
  mistakes.add('cursor', 'type', 'expected nextCursor of the page before');
  return undefined;
}
