import type { RuleAction } from '../../actions.ts';
import { createScope, type ReferencedRecords, type ScopeInput } from '../../authz/context/index.ts';
import type { Decision } from '../../authz/decision/index.ts';
import { ALWAYS, type Condition, conditionPaths, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { type ListQuery, loadReferenced } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';

/** What conditions read for one decision of a request. */
export type ScopeSubject = Pick<ScopeInput, 'action' | 'resource' | 'record' | 'recordId' | 'referred' | 'data'>;

/** Lays out what conditions read: who asks, when and how are the request's. */
export function scopeOf({ principal, origin, request, tx, options, snapshot }: RequestContext, subject: ScopeSubject): Scope {
  const { action, resource, record, recordId, referred, data = request.data } = subject;
  const { now } = tx;
  const { timeZone } = options;
  const { definitions } = snapshot;
  return createScope({ principal, action, resource, record, recordId, origin, data, now, timeZone, definitions, referred });
}

/** What the condition that a decision left open is evaluated against, record by record. */
export async function scopesFor(
  context: RequestContext,
  { resource, action, where }: { readonly resource: Resource; readonly action: RuleAction; readonly where: Condition },
): Promise<ListQuery['scopeFor']> {
  const { tx, snapshot, principal } = context;
  const ofCaller = await loadReferenced(tx, snapshot.definitions, {
    paths: conditionPaths(where),
    principal,
    resource,
    record: UNRESOLVED,
  });
  return (record: StoredRecord, ofRecord: ReferencedRecords) =>
    scopeOf(context, { resource, action, record, recordId: record.id, referred: new Map([...ofCaller, ...ofRecord]) });
}

/** The records that a decision with the record open leaves: where it denies, nothing may be read at all. */
export function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'allow-where') return decision.where;
  if (decision.effect === 'allow') return ALWAYS;
  throw new Error('a denied list reached the table');
}
