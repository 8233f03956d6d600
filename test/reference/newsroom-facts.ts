/** The newsroom of `policy-fixtures.ts` as plain data, for the reference decider. */

import type { ScopeInput } from '../../src/authz/context/index.ts';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { NOW, type WholeState } from '../policy-fixtures.ts';
import { createReferenceDecider, type ReferenceDecision } from './reference-decider.ts';
import type { Facts, PathKind } from './reference-facts.ts';

/** Decides by the reference decider, with plain data. */
export function decideNewsroom(policies: WholeState, parts: ScopeInput): ReferenceDecision {
  const { principal, resource, action, record, recordId, origin, referenced = new Map() } = parts;
  const { id, role, attributes } = principal;
  const facts: Facts = {
    groups: {
      user: { ...attributes, ...(id !== undefined && { id }), role },
      resource: { name: resource.name, ...(recordId !== undefined && { id: recordId }), ...(record === UNRESOLVED ? {} : record) },
      environment: { timestamp: '2026-03-04T10:30:00.000Z', date: '2026-03-04', hour: 10, minute: 30, dayOfWeek: 3, ip: origin.ip },
      request: { ...origin, action },
    },
    referenced: Object.fromEntries(referenced),
    kinds: KINDS,
    now: NOW,
    timeZone: 'UTC',
  };
  return createReferenceDecider(policies, { userId: id, role, resource: resource.name, action, now: NOW })(facts);
}

/** Returns the author of a record by path, as `createScope` takes referenced records. */
export function authorOf(record: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const author = AUTHORS[String(record?.['authorId'])];
  return new Map(author === undefined ? [] : [['resource.authorId', author]]);
}

/** The kinds of paths in the definitions of the newsroom. */
const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ...['user.id', 'user.role', 'resource.id', 'resource.name', 'resource.title', 'resource.status', 'resource.authorId'].map(
    (path) => [path, 'text'] as const,
  ),
  ['resource.views', 'number'],
  ['resource.price', 'decimal'],
  ['resource.tags', 'list of text'],
  ['resource.extra', 'json'],
  ['resource.authorId.role', 'text'],
  ['resource.authorId.isActive', 'boolean'],
  ['environment.hour', 'number'],
  ['request.action', 'text'],
]);
/** The users that articles refer to. */
const AUTHORS: Readonly<Record<string, JsonObject>> = { u1: { id: 'u1', role: 'user', isActive: true }, u2: { id: 'u2', role: 'editor' } };
