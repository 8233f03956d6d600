import { type Issue, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { findField } from './resolve-field.ts';
import type { Resource } from './resource.ts';

const MOST_KEYS = 5;

/** `-createdAt` is `{ field: 'createdAt', descending: true }`. */
export interface DefinedSortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** A sort key whose field exists and can be sorted by. */
export interface ResolvedSortKey {
  readonly field: Field;
  readonly descending: boolean;
}

/** The sort keys of a request, in order; every one that cannot be used is listed in the problem. */
export function parseSort(resource: Resource, keys: readonly DefinedSortKey[]): readonly ResolvedSortKey[] {
  if (keys.length > MOST_KEYS) throw new Problem('REQUEST_PARAMETER', `sort: expected at most ${MOST_KEYS} keys, given ${keys.length}`);
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

/** The first of several issues, and how many more there are. */
export function summarise(issues: readonly Issue[]): string {
  const [first, ...rest] = issues;
  if (first === undefined) return '';
  return rest.length === 0 ? `${first.path}: ${first.detail}` : `${first.path}: ${first.detail} (and ${rest.length} more)`;
}
