/**
 * The two authorization steps of each action, as `pipeline.ts` lists them. Each function adds an audit entry per decision and
 * throws on denial; `maySeeDescription` returns false instead.
 */
import type { Decision } from '../../authz/decision/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import { hasIncrement } from '../../resources/index.ts';
import type { Decided, Found, Proposal, RequestContext } from '../request-context.ts';
import { asRead, authorize, authorizeAgain, decideOn } from './decide-request.ts';

/** Authorizes access to the stored record. An unknown record has no attributes, so it is denied like a record that the caller may not access. */
export function authorizeRecord(context: RequestContext, found: Found): Promise<Decision> {
  return authorize(context, { record: found[0], recordId: context.request.id ?? found[0]?.id });
}

/**
 * Authorizes an update of the stored record. An increment also needs a decision on `read`, with its own audit entry: the new value depends
 * on the stored value, so the refusal of a new value would reveal the stored value.
 */
export async function authorizeUpdate(context: RequestContext, found: Found): Promise<Decision> {
  const decision = await authorizeRecord(context, found);
  if (hasIncrement(context.resource, context.request.data)) {
    await authorize(asRead(context), { record: found[0], recordId: context.request.id, action: 'read' });
  }
  return decision;
}

/** Authorizes the record that a create would store. */
export function authorizeProposal(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  return authorize(context, { record: proposals[0]?.record });
}

/** Authorizes the first record of an import. */
export function authorizeFirstRow(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  return authorizeRow(context, proposals, 0);
}

/** Authorizes one record of an import, with its own row as the data of the request. */
export function authorizeRow(context: RequestContext, proposals: readonly Proposal[], index: number): Promise<Decision> {
  const rows = context.request.data as readonly Json[];
  return authorize(context, { record: proposals[index]?.record, data: rows[index] ?? null });
}

/** Authorizes an action on records that are not known yet. Returns allow, or allow-where with the condition that the records must match. */
export function authorizeOpen(context: RequestContext): Promise<Decision> {
  return authorize(context, { record: UNRESOLVED });
}

/** Authorizes the description of the resource, for callers who may read or list at least some of its records. */
export async function authorizeDescription(context: RequestContext): Promise<Decision> {
  const reading = await decideOn(context, { record: UNRESOLVED, action: 'read' });
  if (reading.effect !== 'deny') return reading;
  // The denial of `read` is dropped: the decision on `list` has its own entry.
  context.entries.pop();
  return authorize(context, { record: UNRESOLVED, action: 'list' });
}

/** Returns true if the caller may see the description of the context's resource. The audit entries of the decisions stay in the context. */
export async function maySeeDescription(context: RequestContext): Promise<boolean> {
  for (const action of ['read', 'list'] as const) {
    if ((await decideOn(context, { record: UNRESOLVED, action })).effect !== 'deny') return true;
  }
  return false;
}

/** Authorizes an update again, on the record as it would be stored. */
export async function authorizeChange(context: RequestContext, { found, proposals }: Decided): Promise<undefined> {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  await authorizeAgain(context, { record: changed, recordId: changed.id, isChangedRecord: true });
}

/** Authorizes `delete` on records that are not known yet: callers see the soft-deleted records that they may delete. The decision has its own entry. */
export function authorizeDeletion(context: RequestContext): Promise<Decision> {
  return authorize(context, { record: UNRESOLVED, action: 'delete' });
}

/** Authorizes `read` on records that are not known yet: a filter matches only records that the caller may read. The decision has its own entry. */
export function authorizeReading(context: RequestContext): Promise<Decision> {
  return authorize(asRead(context), { record: UNRESOLVED, action: 'read' });
}
