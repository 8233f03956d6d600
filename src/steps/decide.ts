import { ACTIONS, type RuleAction } from '../actions.ts';
import { createEntryId, type Entry, factsOf } from '../audit/index.ts';
import { createScope, OPEN } from '../context/index.ts';
import { type Decision, decide } from '../decision/index.ts';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { applicableRules } from '../policy/index.ts';
import type { Resource, StoredRecord } from '../resource/index.ts';
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
export function decideRecord(job: Job, found: Found): Decision {
  return decideOrRefuse(job, { record: found[0], recordId: job.request.id ?? found[0]?.id });
}

/** Decides on the record as a create would make it. */
export function decideProposed(job: Job, _found: Found, proposals: readonly Proposal[]): Decision {
  return decideOrRefuse(job, { record: proposals[0]?.record });
}

/** Decides each record of an import by itself; the first that is denied denies all, and those behind it are not even read. */
export function decideEachProposed(job: Job, _found: Found, proposals: readonly Proposal[]): Decision {
  const rows = job.request.data as readonly Json[];
  const decisions = proposals.map((proposal, index) => decideOrRefuse(job, { record: proposal.record, data: rows[index] ?? null }));
  return decisions[0] as Decision;
}

/** Decides on each record that a filter matched. */
export function decideMatches(job: Job, found: Found): Decision {
  const [first, ...others] = found;
  const decision = decideOrRefuse(job, { record: first, recordId: first?.id });
  for (const record of others) decideOrRefuse(job, { record, recordId: record.id });
  return decision;
}

/** Decides with the record open: denied for all, allowed for all, or allowed where. */
export function decideOpen(job: Job): Decision {
  return decideOrRefuse(job, { record: OPEN });
}

/** Who may read or list a resource may see its description; a condition on the records counts as allowed. */
export function decideDescription(job: Job): Decision {
  const asRead = decideOn(job, { record: OPEN, action: 'read' });
  if (asRead.effect !== 'deny') return asRead;
  job.entries.pop();
  return decideOrRefuse(job, { record: OPEN, action: 'list' });
}

/** Decides once more, on the record as the update would leave it. It is one decision with two looks, so its entry takes the place of the first. */
export function redecide(job: Job, { found, proposals }: Decided): void {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  const first = job.entries.pop();
  decideOrRefuse(job, { record: changed, recordId: changed.id }, first?.id);
}

/** For actions that change no stored record. */
export function redecideNothing(): void {}

/** Decides and leaves the entry in the job; refuses with ACCESS_DENIED where the answer is deny. */
export function decideOrRefuse(job: Job, subject: Subject, entryId?: string): Decision {
  const decision = decideOn(job, subject, entryId);
  if (decision.effect === 'deny') throw new Problem('ACCESS_DENIED', decision.reason, { decisionId: (job.entries.at(-1) as Entry).id });
  return decision;
}

/** Decides and leaves the entry in the job. */
export function decideOn(job: Job, subject: Subject, entryId: string = createEntryId()): Decision {
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
  const scope = createScope({
    principal,
    action,
    resource,
    record: subject.record,
    recordId: subject.recordId,
    origin,
    data: subject.data ?? request.data,
    now: tx.now,
    timeZone: job.settings.timeZone,
    definitions: model.definitions,
  });
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  const facts = factsOf(applicable.rules, scope, job.settings.factsBytes);
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
  const rule = decision.effect === 'allow-where' ? decision.rules[0] : decision.rule;
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
