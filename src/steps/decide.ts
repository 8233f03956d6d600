import { ACTIONS, type RuleAction } from '../actions.ts';
import { createEntryId, type Entry, factsOf, rulesToExplain } from '../audit/index.ts';
import { createScope, OPEN } from '../context/index.ts';
import { type Decision, decide, decidingRule } from '../decision/index.ts';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { applicableRules } from '../policy/index.ts';
import type { Resource, StoredRecord } from '../resource/index.ts';
import { loadReferred } from '../storage/index.ts';
import type { Decided, Found, Job, Proposal } from './job.ts';

/** What a decision is about. */
interface Subject {
  readonly resource?: Resource;
  readonly action?: RuleAction;
  /** The record; undefined is a record without attributes; OPEN is any. */
  readonly record: StoredRecord | typeof OPEN | undefined;
  readonly recordId?: string | undefined;
  /** What is sent for the record, where that is a part of the request's data. */
  readonly data?: Json;
}

/** Decides on the stored record. One that does not exist has no attributes: what depends on them denies, in the same words. */
export function decideRecord(job: Job, found: Found): Promise<Decision> {
  return decideOrRefuse(job, { record: found[0], recordId: job.request.id ?? found[0]?.id });
}

/** Decides on the record as a create would make it. */
export function decideProposed(job: Job, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  return decideOrRefuse(job, { record: proposals[0]?.record });
}

/** Decides each record of an import by itself; the first that is denied denies all, and those behind it are not even read. */
export async function decideEachProposed(job: Job, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  const rows = job.request.data as readonly Json[];
  let first: Decision | undefined;
  for (const [index, { record }] of proposals.entries()) {
    const decision = await decideOrRefuse(job, { record, data: rows[index] ?? null });
    first ??= decision;
  }
  return first as Decision;
}

/** Decides on each record that a filter matched. */
export async function decideMatches(job: Job, found: Found): Promise<Decision> {
  const [first, ...others] = found;
  const decision = await decideOrRefuse(job, { record: first, recordId: first?.id });
  for (const record of others) await decideOrRefuse(job, { record, recordId: record.id });
  return decision;
}

/** Decides with the record open: denied for all, allowed for all, or allowed where. */
export function decideOpen(job: Job): Promise<Decision> {
  return decideOrRefuse(job, { record: OPEN });
}

/** Who may read or list a resource may see its description; a condition on the records counts as allowed. */
export async function decideDescription(job: Job): Promise<Decision> {
  const asRead = await decideOn(job, { record: OPEN, action: 'read' });
  if (asRead.effect !== 'deny') return asRead;
  job.entries.pop();
  return decideOrRefuse(job, { record: OPEN, action: 'list' });
}

/** Decides once more, on the record as the update would leave it. It is one decision with two looks, so its entry takes the place of the first. */
export async function redecide(job: Job, { found, proposals }: Decided): Promise<void> {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  const first = job.entries.pop();
  await decideOrRefuse(job, { record: changed, recordId: changed.id }, first?.id);
}

/** For actions that change no stored record. */
export async function redecideNothing(): Promise<void> {}

/** Decides and leaves the entry in the job; refuses with ACCESS_DENIED where the answer is deny. */
export async function decideOrRefuse(job: Job, subject: Subject, entryId?: string): Promise<Decision> {
  const decision = await decideOn(job, subject, entryId);
  if (decision.effect === 'deny') throw new Problem('ACCESS_DENIED', decision.reason, { decisionId: (job.entries.at(-1) as Entry).id });
  return decision;
}

/** Decides and leaves the entry in the job. */
export async function decideOn(job: Job, subject: Subject, entryId: string = createEntryId()): Promise<Decision> {
  const { principal, tx, model, origin, request } = job;
  const resource = subject.resource ?? job.resource;
  const action = subject.action ?? (ACTIONS.get(request.action)?.decides as RuleAction);
  const applicable = applicableRules(model.policies, {
    userId: principal.id,
    role: principal.role,
    resource: resource.name,
    action,
    now: tx.now,
  });
  const { record } = subject;
  const scope = createScope({
    principal,
    action,
    resource,
    record,
    referred: await loadReferred(tx, model.definitions, { paths: applicable.reaches, principal, resource, record }),
    recordId: subject.recordId,
    origin,
    data: subject.data ?? request.data,
    now: tx.now,
    timeZone: job.settings.timeZone,
    definitions: model.definitions,
  });
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  const facts = factsOf(rulesToExplain(applicable, decision), scope, job.settings.factsBytes);
  job.entries.push(toEntry(job, { id: entryId, resource, action, decision, recordId: subject.recordId, facts }));
  return decision;
}

interface EntryParts extends Pick<Entry, 'id' | 'recordId' | 'facts'> {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly decision: Decision;
}

function toEntry(job: Job, parts: EntryParts): Entry {
  const { decision } = parts;
  const rule = decidingRule(decision);
  return {
    id: parts.id,
    at: new Date(job.tx.now).toISOString(),
    kind: 'access',
    userId: job.principal.id,
    role: job.principal.role,
    resource: parts.resource.name,
    action: parts.action,
    recordId: parts.recordId,
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    ruleId: rule?.id,
    policyId: rule?.policy.id,
    epoch: job.model.epoch.number,
    requestId: job.origin.requestId,
    ip: job.origin.ip,
    facts: parts.facts,
  };
}
