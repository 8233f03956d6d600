import { ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId, factsOf, readsToExplain } from '../../audit/index.ts';
import { leaveOpen } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule } from '../../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, PROTECTION_ID, type UserAssignment } from '../../authz/policies/index.ts';
import { OPEN, type Scope } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { type Json, toInstantText } from '../../operators/index.ts';
import { hasIncrement, type Resource, type StoredRecord } from '../../resources/index.ts';
import { loadReferenced, loadReferencedOfEach } from '../../storage/index.ts';
import type { Decided, Found, Job, Proposal } from '../step-context.ts';
import { type ScopeSubject, scopeOf } from './decision-scopes.ts';

/** What a decision is about. */
interface Subject {
  readonly resource?: Resource;
  readonly action?: RuleAction;
  /** The record; undefined is a record without attributes; OPEN is any. */
  readonly record: StoredRecord | typeof OPEN | undefined;
  readonly recordId?: string | undefined;
  /** What is sent for the record, where that is a part of the request's data. */
  readonly data?: Json;
  /** Nothing of the request's data is known yet: what depends on it stays open, as with an open record. */
  readonly dataIsOpen?: boolean;
}

/** Decides on the stored record. One that does not exist has no attributes: what depends on them denies, in the same words. */
export function decideRecord(job: Job, found: Found): Promise<Decision> {
  return decideOrRefuse(job, { record: found[0], recordId: job.request.id ?? found[0]?.id });
}

/**
 * Decides on the stored record. An increment builds on the stored value, and a sum that is refused would tell it: a caller who sends one
 * must be allowed to read the record as well, with an entry of its own.
 */
export async function decideUpdate(job: Job, found: Found): Promise<Decision> {
  const decision = await decideRecord(job, found);
  if (hasIncrement(job.resource, job.request.data)) {
    await decideOrRefuse(asRead(job), { record: found[0], recordId: job.request.id, action: 'read' });
  }
  return decision;
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

/** Returns whether the caller may see the description of the job's resource: the same decisions, whose entries stay in the job. */
export async function maySeeDescription(job: Job): Promise<boolean> {
  for (const action of ['read', 'list'] as const) {
    if ((await decideOn(job, { record: OPEN, action })).effect !== 'deny') return true;
  }
  return false;
}

/** Decides once more, on the record as the update would leave it. */
export async function redecide(job: Job, { found, proposals }: Decided): Promise<undefined> {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  await decideAgain(job, { record: changed, recordId: changed.id });
}

/** For actions that change no stored record. */
export async function redecideNothing(): Promise<undefined> {}

/** Deleted records are for those who might have deleted them: decided as a deletion, with the record open, and with an entry of its own. */
export function decideDeletion(job: Job): Promise<Decision> {
  return decideOrRefuse(job, { record: OPEN, action: 'delete' });
}

/** Decides which records a filter may match: those that the caller may read. An entry of its own. */
export function decideReading(job: Job): Promise<Decision> {
  return decideOrRefuse(asRead(job), { record: OPEN, action: 'read' });
}

/** The job as one that reads: a read sends no data, so data must not open more than a read shows. */
export function asRead(job: Job): Job {
  return { ...job, request: { ...job.request, data: undefined } };
}

/** Decides and leaves the entry in the job; refuses with ACCESS_DENIED or ACCESS_PROTECTED where the answer is deny. */
export async function decideOrRefuse(job: Job, subject: Subject): Promise<Decision> {
  const decision = await decideOn(job, subject);
  refuseDenied(decision, job.entries.at(-1) as AuditEntry);
  return decision;
}

/**
 * Decides an action once more, on another state of what it is about. It is one decision with two looks, so the entry
 * replaces the earlier one of the same action and keeps its id. Refuses as `decideOrRefuse` does where the answer is deny.
 */
export async function decideAgain(job: Job, subject: Subject): Promise<Decision> {
  const action = subject.action ?? decidedAction(job);
  const earlier = job.entries.findLastIndex((entry) => entry.action === action);
  const decision = await decideOn(job, subject, job.entries[earlier]?.id);
  const entry = job.entries.pop() as AuditEntry;
  job.entries.splice(earlier, 1, entry);
  refuseDenied(decision, entry);
  return decision;
}

/** Decides and leaves the entry in the job. */
export async function decideOn(job: Job, subject: Subject, entryId: string = createEntryId()): Promise<Decision> {
  return conclude(job, await ask(job, subject), entryId);
}

/**
 * Returns whether a read of the record by itself would be allowed. It leaves no entry, because it only decides how much the
 * answer of another action shows: the entry of that action names the record.
 */
export async function mayRead(job: Job, record: StoredRecord): Promise<boolean> {
  const reading = asRead(job);
  const { decision } = evaluate(reading, await ask(reading, { record, recordId: record.id, action: 'read' }));
  return decision.effect === 'allow';
}

/** Loads what the rules that apply read beside the record. */
async function ask(job: Job, subject: Subject): Promise<Question> {
  const { principal, tx, model } = job;
  const resource = subject.resource ?? job.resource;
  const action = subject.action ?? decidedAction(job);
  const grants = await model.grants.of(tx, principal.id);
  const applicable = rulesFor(job, { resource, action, grants });
  const { reaches: paths } = applicable;
  const { record } = subject;
  // Waiting for nothing costs about as much as deciding.
  const referred = paths.length === 0 ? undefined : await loadReferenced(tx, model.definitions, { paths, principal, resource, record });
  return { ...subject, applicable, resource, action, referred };
}

function decidedAction({ request }: Job): RuleAction {
  return ACTIONS.get(request.action)?.decides as RuleAction;
}

/** Several records of one resource that one action is decided on, each by itself. */
export interface Subjects {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly records: readonly StoredRecord[];
}

/** Decides on each and leaves its entry in the job. */
export async function decideOnEach(job: Job, subjects: Subjects): Promise<readonly Decision[]> {
  const decideNext = await prepareEach(job, subjects);
  return subjects.records.map(decideNext);
}

/** Decides on one after the other and leaves its entry in the job; refuses with ACCESS_DENIED, and `hint`, at the first that is denied. */
export async function decideOrRefuseEach(job: Job, { hint, ...subjects }: Subjects & { readonly hint: string }): Promise<void> {
  const decideNext = await prepareEach(job, subjects);
  for (const record of subjects.records) refuseDenied(decideNext(record), job.entries.at(-1) as AuditEntry, hint);
}

/** Loads what conditions read beside the records: with one statement for each reference that they follow, not one for each record. */
async function prepareEach(job: Job, { resource, action, records }: Subjects): Promise<(record: StoredRecord) => Decision> {
  const { principal, tx, model } = job;
  const grants = await model.grants.of(tx, principal.id);
  const applicable = rulesFor(job, { resource, action, grants });
  const { reaches: paths } = applicable;
  const ofCaller = await loadReferenced(tx, model.definitions, { paths, principal, resource, record: OPEN });
  const referredOf = await loadReferencedOfEach(tx, model.definitions, { paths, resource, records });
  return (record) => {
    const referred = new Map([...ofCaller, ...referredOf(record)]);
    return conclude(job, { applicable, resource, action, record, recordId: record.id, referred }, createEntryId());
  };
}

function refuseDenied(decision: Decision, { id: decisionId }: AuditEntry, hint?: string): void {
  if (decision.effect !== 'deny') return;
  const code = decision.rule?.id === PROTECTION_ID ? 'ACCESS_PROTECTED' : 'ACCESS_DENIED';
  throw new Problem(code, decision.reason, { decisionId, ...(hint !== undefined && { hint }) });
}

interface Wanted extends Pick<Subjects, 'resource' | 'action'> {
  /** What the caller is assigned. */
  readonly grants: readonly UserAssignment[];
}

function rulesFor({ principal: { role }, tx, model }: Job, { resource, action, grants }: Wanted): ApplicableRules {
  const applicable = applicableRules(model.policies, { grants, role, resource: resource.name, action, now: tx.now });
  // By the database's clock, when it commits: an assignment does not last longer because a request does.
  tx.restsOn({ validUntil: applicable.validUntil });
  return applicable;
}

interface Question extends ScopeSubject {
  readonly applicable: ApplicableRules;
  readonly dataIsOpen?: boolean;
}

/** Decides and leaves the entry in the job. */
function conclude(job: Job, question: Question, entryId: string): Decision {
  const { applicable, resource, action, recordId } = question;
  const { decision, scope } = evaluate(job, question);
  const facts = factsOf(readsToExplain(applicable, decision), scope, job.settings.factsBytes);
  job.entries.push(toEntry(job, { id: entryId, resource, action, decision, recordId, facts }));
  return decision;
}

function evaluate(job: Job, question: Question): { readonly decision: Decision; readonly scope: Scope } {
  const { principal } = job;
  const { applicable, dataIsOpen = false } = question;
  const known = scopeOf(job, question);
  const scope = dataIsOpen ? leaveOpen(known, ({ group, keys }) => group === 'request' && keys[0] === 'data') : known;
  const from = performance.now();
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  job.watch?.decided(performance.now() - from);
  return { decision, scope };
}

interface EntryParts extends Pick<AuditEntry, 'id' | 'recordId' | 'facts'> {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly decision: Decision;
}

function toEntry(job: Job, parts: EntryParts): AuditEntry {
  const { decision } = parts;
  const rule = decidingRule(decision);
  return {
    id: parts.id,
    at: toInstantText(job.tx.now),
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
