import { describeValue, type Json } from '../operators/index.ts';
import type { ApiRequest, ExpandItem } from './api-request.ts';
import type { QueryTree } from './http-messages.ts';
import { textAt } from './query-string.ts';
import type { Mistakes } from './request-mistakes.ts';

/** What says which parts of records are shown, by the names that a query and a body share. */
export interface ProjectionMembers {
  readonly fields?: Json | undefined;
  readonly expand?: Json | undefined;
}

/** Which parts of records are asked for. */
export type ProjectionPart = Pick<ApiRequest, 'fields' | 'expand'>;

/** Names of `ProjectionMembers`, as a query may use them. */
export const PROJECTION_NAMES = ['fields', 'expand'] as const;

/** More than any resource has. */
const MAX_FIELDS = 256;
const MAX_EXPANDED = 5;
const USUAL_REFERRING = 20;
const MAX_REFERRING = 100;

/** `authorId`, or `comments:Comment.articleId(20)`: one step, so no more dots than that. */
const EXPAND = /^([^\s,:.()]+)(?::([^\s,:.()]+)\.([^\s,:.()]+)(?:\(([1-9]\d{0,8})\))?)?$/;

/** Reads which parts of records are asked for, noting every mistake. */
export function parseProjectionPart(given: ProjectionMembers, mistakes: Mistakes): ProjectionPart {
  return { fields: readFields(given.fields, mistakes), expand: readExpand(given.expand, mistakes) };
}

/** A query's members. */
export function toProjectionMembers(query: QueryTree): ProjectionMembers {
  return { fields: textAt(query, 'fields'), expand: textAt(query, 'expand') };
}

/** `title,status`; in a body also `["title", "status"]`. */
function readFields(given: Json | undefined, mistakes: Mistakes): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const parts = toParts(given);
  const names = parts.filter((part) => typeof part === 'string' && part !== '' && part === part.trim()) as readonly string[];
  if (names.length < parts.length) mistakes.add('fields', 'type', 'expected field names separated by commas, such as title,status');
  checkParts('fields', names, { most: MAX_FIELDS, mistakes });
  return names;
}

/** `authorId,comments:Comment.articleId(20)`; in a body also a list of such. */
function readExpand(given: Json | undefined, mistakes: Mistakes): readonly ExpandItem[] | undefined {
  if (given === undefined) return undefined;
  const items: ExpandItem[] = [];
  for (const part of toParts(given).slice(0, MAX_EXPANDED + 1)) {
    const item = typeof part === 'string' ? toExpandItem(part) : undefined;
    if (item !== undefined) items.push(item);
    else
      mistakes.add(
        'expand',
        'type',
        `expected references such as authorId, or comments:Comment.articleId(20) for what refers here, given ${describeValue(part)}`,
      );
    if (item?.by !== undefined && item.by.limit > MAX_REFERRING)
      mistakes.add(
        'expand',
        'range',
        `expected at most ${MAX_REFERRING} records under ${describeValue(item.name)}, given ${item.by.limit}`,
      );
  }
  const names = items.map(({ name }) => name);
  checkParts('expand', names, { most: MAX_EXPANDED, mistakes });
  return items;
}

function toExpandItem(part: string): ExpandItem | undefined {
  const [, name, resource, field, limit] = EXPAND.exec(part) ?? [];
  if (name === undefined) return undefined;
  if (resource === undefined || field === undefined) return { name };
  return { name, by: { resource, field, limit: limit === undefined ? USUAL_REFERRING : Number(limit) } };
}

function toParts(given: Json): readonly Json[] {
  if (typeof given === 'string') return given.split(',');
  return Array.isArray(given) && given.length > 0 ? given : [given];
}

function checkParts(member: string, names: readonly string[], { most, mistakes }: { most: number; mistakes: Mistakes }): void {
  if (names.length > most) mistakes.add(member, 'count', `expected at most ${most} names, more were given`);
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) mistakes.add(member, 'duplicate', `expected each name once, ${describeValue(twice)} was given twice`);
}
