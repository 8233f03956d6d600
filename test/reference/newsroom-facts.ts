/** The newsroom of `policy-fixtures.ts` as plain data, for the reference. */

import type { ScopeInput } from '../../src/authz/context/index.ts';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { NOW, type WholeState } from '../policy-fixtures.ts';
import type { Facts, PathKind } from './reference-conditions.ts';
import { type Answer, decideByTheBook } from './reference-decider.ts';

/** The answer of the prose, asked with plain data. */
export function decideSlowly(policies: WholeState, parts: ScopeInput): Answer {
  const { principal, resource, action, record, recordId, origin, referred = new Map() } = parts;
  const { id, role, attributes } = principal;
  const facts: Facts = {
    groups: {
      user: { ...attributes, ...(id !== undefined && { id }), role },
      resource: { name: resource.name, ...(recordId !== undefined && { id: recordId }), ...(record === UNRESOLVED ? {} : record) },
      environment: { timestamp: '2026-03-04T10:30:00.000Z', date: '2026-03-04', hour: 10, minute: 30, dayOfWeek: 3, ip: origin.ip },
      request: { ...origin, action },
    },
    referred: Object.fromEntries(referred),
    kinds: KINDS,
    now: NOW,
    timeZone: 'UTC',
  };
  return decideByTheBook(policies, { userId: id, role, resource: resource.name, action, facts });
}

/** Who a record refers to, as a scope takes it. */
export function referredBy(record: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const author = AUTHORS[String(record?.['authorId'])];
  return new Map(author === undefined ? [] : [['resource.authorId', author]]);
}

/** What the definitions of the newsroom say, as plain data. */
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
/** Who articles refer to. */
const AUTHORS: Readonly<Record<string, JsonObject>> = { u1: { id: 'u1', role: 'user', isActive: true }, u2: { id: 'u2', role: 'editor' } };
