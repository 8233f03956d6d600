/**
 * The order of a list. `parseSort` parses it without the definitions; `resolveSort` looks up the fields in the
 * definition in force.
 */

import { type Issue, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { findField, type Resource, summarise } from '../resources/index.ts';
import type { RequestLimits, SortKey } from './api-request.ts';

/** Parses sort keys: `-createdAt,name`; in a body also `["-createdAt", "name"]`. */
export function parseSort(given: Json | undefined, limits: RequestLimits, issues: Issue[]): readonly SortKey[] {
  if (given === undefined) return [];
  const parts: readonly Json[] = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [null];
  const keys = parts.map((part) => (typeof part === 'string' ? toSortKey(part) : undefined));
  const valid = keys.filter((key) => key !== undefined);
  if (valid.length < keys.length)
    issues.push({ path: 'sort', code: 'type', detail: 'expected field names separated by commas, such as -createdAt,name' });
  if (keys.length > limits.sortKeys)
    issues.push({ path: 'sort', code: 'tooMany', detail: `expected at most ${limits.sortKeys} fields, given ${keys.length}` });
  const duplicate = valid.find((key, index) => valid.findIndex((other) => other.field === key.field) < index);
  if (duplicate !== undefined) {
    const detail = `expected each field once, ${describeValue(duplicate.field)} was given twice`;
    issues.push({ path: 'sort', code: 'duplicate', detail });
  }
  return valid;
}

function toSortKey(part: string): SortKey | undefined {
  const descending = part.startsWith('-');
  const field = descending ? part.slice(1) : part;
  return field === '' || field !== field.trim() ? undefined : { field, descending };
}

/** A sort key with its field. */
export interface ResolvedSortKey {
  readonly field: Field;
  readonly descending: boolean;
}

/** Returns sort keys with their fields, in order. @throws Problem REQUEST_FIELD or REQUEST_PARAMETER that lists every key that cannot be used. */
export function resolveSort(resource: Resource, keys: readonly SortKey[]): readonly ResolvedSortKey[] {
  const resolved = new Map<string, ResolvedSortKey>();
  const issues: Issue[] = [];
  for (const key of keys) {
    const found = findField(resource, key.field, 'sort');
    if ('issue' in found) issues.push({ ...found.issue, path: `sort.${found.issue.path}` });
    else if (resolved.has(key.field)) issues.push({ path: `sort.${key.field}`, code: 'duplicate', detail: 'expected each field once' });
    else resolved.set(key.field, { field: found.field, descending: key.descending });
  }
  if (issues.length === 0) return [...resolved.values()];
  throw new Problem(issues.some((issue) => issue.code === 'field') ? 'REQUEST_FIELD' : 'REQUEST_PARAMETER', summarise(issues), {
    errors: issues,
  });
}
