import type { Issue } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { ApiRequest, RequestLimits } from './api-request.ts';
import { type ProjectionMembers, type ProjectionPart, parseProjection } from './projection.ts';
import { parseSort } from './sort.ts';
import { parseWhere, type WhereNode } from './where.ts';

/** The members of a list request; a query and a body share the names. A schema has validated them, except the forms of `where`, `sort`, `fields` and `expand`. */
export interface ListMembers extends ProjectionMembers {
  readonly where?: WhereNode;
  readonly sort?: Json | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly total?: boolean | undefined;
}

/** The list members of an `ApiRequest`. */
export type ListPart = Pick<ApiRequest, 'where' | 'sort' | 'limit' | 'offset' | 'cursor' | 'total'> & ProjectionPart;

/** Parses the list members of a request and adds every mistake to `issues`. */
export function parseListPart(given: ListMembers, limits: RequestLimits, issues: Issue[]): ListPart {
  const { limit, offset, cursor, total = false } = given;
  if (offset !== undefined && cursor !== undefined)
    issues.push({ path: 'cursor', code: 'conflict', detail: 'expected cursor or offset, both were given' });
  return {
    where: parseWhere(given.where, limits, issues),
    sort: parseSort(given.sort, limits, issues),
    limit,
    offset,
    cursor,
    total,
    ...parseProjection(given, issues),
  };
}
