import { describeValue, type Json } from '../operators/index.ts';
import type { ApiRequest, RequestLimits } from './api-request.ts';
import { type ProjectionMembers, type ProjectionPart, parseProjection, toProjectionMembers } from './projection.ts';
import { getParameter, parseBoolean, type QueryTree, toBoolean } from './query-string.ts';
import { MAX_CURSOR_LENGTH } from './record-schemas.ts';
import type { Mistakes } from './request-mistakes.ts';
import { parseSort } from './sort.ts';
import { parseWhere, type WhereNode } from './where.ts';

/** The members of a list request; a query and a body share the names. */
export interface ListMembers extends ProjectionMembers {
  readonly where?: WhereNode;
  readonly sort?: Json | undefined;
  readonly limit?: Json | undefined;
  readonly offset?: Json | undefined;
  readonly cursor?: Json | undefined;
  readonly total?: Json | undefined;
}

/** The list members of an `ApiRequest`. */
export type ListPart = Pick<ApiRequest, 'where' | 'sort' | 'limit' | 'offset' | 'cursor' | 'total'> & ProjectionPart;

/** Names of `ListMembers`, as a query may use them. */
export const LIST_NAMES = ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields', 'expand'] as const;

const MAX_OFFSET = 1_000_000_000;

/** Limits of one list. `limitMax` is the maximum of `limit`; exports have a larger maximum. */
export interface ListBounds {
  readonly limits: RequestLimits;
  readonly limitMax: number;
}

/** Parses the list members of a request and adds every mistake to `mistakes`. */
export function parseListPart(given: ListMembers, { limits, limitMax }: ListBounds, mistakes: Mistakes): ListPart {
  if (given.offset !== undefined && given.cursor !== undefined)
    mistakes.add('cursor', 'conflict', 'expected cursor or offset, both were given');
  return {
    where: parseWhere(given.where, limits, mistakes),
    sort: parseSort(given.sort, limits, mistakes),
    limit: parseInteger({ name: 'limit', min: 1, max: limitMax, given: given.limit }, mistakes),
    offset: parseInteger({ name: 'offset', min: 0, max: MAX_OFFSET, given: given.offset }, mistakes),
    cursor: parseCursor(given.cursor, mistakes),
    total: parseBoolean('total', { given: given.total, fallback: false }, mistakes),
    ...parseProjection(given, mistakes),
  };
}

/** Returns the list members of a query. Converts texts to numbers and booleans only in their usual form: `1e3`, ` 5` and `0x1` stay text. */
export function toListMembers(query: QueryTree): ListMembers {
  return {
    where: query.get('where'),
    sort: getParameter(query, 'sort'),
    limit: toNumber(getParameter(query, 'limit')),
    offset: toNumber(getParameter(query, 'offset')),
    cursor: getParameter(query, 'cursor'),
    total: toBoolean(getParameter(query, 'total')),
    ...toProjectionMembers(query),
  };
}

function toNumber(text: Json | undefined): Json | undefined {
  return typeof text === 'string' && /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

interface IntegerInput {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly given: Json | undefined;
}

function parseInteger({ name, min, max, given }: IntegerInput, mistakes: Mistakes): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given;
  mistakes.add(
    name,
    typeof given === 'number' ? 'range' : 'type',
    `expected a whole number from ${min} to ${max}, given ${describeValue(given)}`,
  );
  return undefined;
}

function parseCursor(given: Json | undefined, mistakes: Mistakes): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_CURSOR_LENGTH) return given;
  mistakes.add('cursor', 'type', 'expected the nextCursor of the page before');
  return undefined;
}
