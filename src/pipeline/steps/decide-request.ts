import { ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId, factsOf, readsToExplain } from '../../audit/index.ts';
import { leaveOpen } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule } from '../../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, PROTECTION_ID, type UserAssignment } from '../../authz/policies/index.ts';
import { type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { type Json, toInstantText } from '../../operators/index.ts';
import { hasIncrement, type Resource, type StoredRecord } from '../../resources/index.ts';
import { loadReferenced, loadReferencedOfEach } from '../../storage/index.ts';
import type { Decided, Found, Proposal, RequestContext } from '../request-context.ts';
import { type ScopeSubject, scopeOf } from './decision-scopes.ts';

/** What a decision is about. */
interface Subject {
  readonly resource?: Resource;
  readonly action?: RuleAction;
  /** The record; undefined is a record without attributes; UNRESOLVED is any. */
  readonly record: StoredRecord | typeof UNRESOLVED | undefined;
  readonly recordId?: string | undefined;
  /** What is sent for the record, where that is a part of the request's data. */
  readonly data?: Json;
  /** Nothing of the request's data is known yet: what depends on it stays open, as with an open record. */
  readonly dataIsOpen?: boolean;
}

/** Decides on the stored record. One that does not exist has no attributes: what depends on them denies, in the same words. */
export function decideRecord(context: RequestContext, found: Found): Promise<Decision> {
  return decideOrRefuse(context, { record: found[0], recordId: context.request.id ?? found[0]?.id });
}

/**
 * Decides on the stored record. An increment builds on the stored value, and a sum that is refused would tell it: a caller who sends one
 * must be allowed to read the record as well, with an entry of its own.
 */
export async function decideUpdate(context: RequestContext, found: Found): Promise<Decision> {
  const decision = await decideRecord(context, found);
  if (hasIncrement(context.resource, context.request.data)) {
    await decideOrRefuse(asRead(context), { record: found[0], recordId: context.request.id, action: 'read' });
  }
  return decision;
}

/** Decides on the record as a create would make it. */
export function decideProposed(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  return decideOrRefuse(context, { record: proposals[0]?.record });
}

/** Decides each record of an import by itself; the first that is denied denies all, and those behind it are not even read. */
export async function decideEachProposed(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  const rows = context.request.data as readonly Json[];
  let first: Decision | undefined;
  for (const [index, { record }] of proposals.entries()) {
    const decision = await decideOrRefuse(context, { record, data: rows[index] ?? null });
    first ??= decision;
  }
  return first as Decision;
}

/** Decides with the record open: denied for all, allowed for all, or allowed where. */
export function decideOpen(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(context, { record: UNRESOLVED });
}

/** Who may read or list a resource may see its description; a condition on the records counts as allowed. */
export async function decideDescription(context: RequestContext): Promise<Decision> {
  const asRead = await decideOn(context, { record: UNRESOLVED, action: 'read' });
  if (asRead.effect !== 'deny') return asRead;
  context.entries.pop();
  return decideOrRefuse(context, { record: UNRESOLVED, action: 'list' });
}

/** Returns whether the caller may see the description of the context's resource: the same decisions, whose entries stay in the context. */
export async function maySeeDescription(context: RequestContext): Promise<boolean> {
  for (const action of ['read', 'list'] as const) {
    if ((await decideOn(context, { record: UNRESOLVED, action })).effect !== 'deny') return true;
  }
  return false;
}

/** Decides once more, on the record as the update would leave it. */
export async function decideChanged(context: RequestContext, { found, proposals }: Decided): Promise<undefined> {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  await decideAgain(context, { record: changed, recordId: changed.id });
}

/** For actions that change no stored record. */
export async function decideNoChange(): Promise<undefined> {}

/** Deleted records are for those who might have deleted them: decided as a deletion, with the record open, and with an entry of its own. */
export function decideDeletion(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(context, { record: UNRESOLVED, action: 'delete' });
}

/** Decides which records a filter may match: those that the caller may read. An entry of its own. */
export function decideReading(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(asRead(context), { record: UNRESOLVED, action: 'read' });
}

/** The context as one that reads: a read sends no data, so data must not open more than a read shows. */
export function asRead(context: RequestContext): RequestContext {
  return { ...context, request: { ...context.request, data: undefined } };
}

/** Decides and leaves the entry in the context; refuses with ACCESS_DENIED or ACCESS_PROTECTED where the answer is deny. */
export async function decideOrRefuse(context: RequestContext, subject: Subject): Promise<Decision> {
  const decision = await decideOn(context, subject);
  refuseDenied(decision, context.entries.at(-1) as AuditEntry);
  return decision;
}

/**
 * Decides an action once more, on another state of what it is about. It is one decision with two looks, so the entry
 * replaces the earlier one of the same action and keeps its id. Refuses as `decideOrRefuse` does where the answer is deny.
 */
export async function decideAgain(context: RequestContext, subject: Subject): Promise<Decision> {
  const action = subject.action ?? decidedAction(context);
  const earlier = context.entries.findLastIndex((entry) => entry.action === action);
  const decision = await decideOn(context, subject, context.entries[earlier]?.id);
  const entry = context.entries.pop() as AuditEntry;
  context.entries.splice(earlier, 1, entry);
  refuseDenied(decision, entry);
  return decision;
}

/** Decides and leaves the entry in the context. */
export async function decideOn(context: RequestContext, subject: Subject, entryId: string = createEntryId()): Promise<Decision> {
  return conclude(context, await ask(context, subject), entryId);
}

/**
 * Returns whether a read of the record by itself would be allowed. It leaves no entry, because it only decides how much the
 * answer of another action shows: the entry of that action names the record.
 */
export async function mayRead(context: RequestContext, record: StoredRecord): Promise<boolean> {
  const reading = asRead(context);
  const { decision } = evaluate(reading, await ask(reading, { record, recordId: record.id, action: 'read' }));
  return decision.effect === 'allow';
}

/** Loads what the rules that apply read beside the record. */
async function ask(context: RequestContext, subject: Subject): Promise<Question> {
  const { principal, tx, snapshot } = context;
  const resource = subject.resource ?? context.resource;
  const action = subject.action ?? decidedAction(context);
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const applicable = rulesFor(context, { resource, action, assignments });
  const { reaches: paths } = applicable;
  const { record } = subject;
  // Waiting for nothing costs about as much as deciding.
  const referred = paths.length === 0 ? undefined : await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record });
  return { ...subject, applicable, resource, action, referred };
}

function decidedAction({ request }: RequestContext): RuleAction {
  return ACTIONS.get(request.action)?.decides as RuleAction;
}

/** Several records of one resource that one action is decided on, each by itself. */
export interface Subjects {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly records: readonly StoredRecord[];
}

/** Decides on each and leaves its entry in the context. */
export async function decideOnEach(context: RequestContext, subjects: Subjects): Promise<readonly Decision[]> {
  const decideNext = await prepareEach(context, subjects);
  return subjects.records.map(decideNext);
}

/** Decides on one after the other and leaves its entry in the context; refuses with ACCESS_DENIED, and `hint`, at the first that is denied. */
export async function decideOrRefuseEach(
  context: RequestContext,
  { hint, ...subjects }: Subjects & { readonly hint: string },
): Promise<void> {
  const decideNext = await prepareEach(context, subjects);
  for (const record of subjects.records) refuseDenied(decideNext(record), context.entries.at(-1) as AuditEntry, hint);
}

/** Loads what conditions read beside the records: with one statement for each reference that they follow, not one for each record. */
async function prepareEach(context: RequestContext, { resource, action, records }: Subjects): Promise<(record: StoredRecord) => Decision> {
  const { principal, tx, snapshot } = context;
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const applicable = rulesFor(context, { resource, action, assignments });
  const { reaches: paths } = applicable;
  const ofCaller = await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record: UNRESOLVED });
  const referredOf = await loadReferencedOfEach(tx, snapshot.definitions, { paths, resource, records });
  return (record) => {
    const referred = new Map([...ofCaller, ...referredOf(record)]);
    return conclude(context, { applicable, resource, action, record, recordId: record.id, referred }, createEntryId());
  };
}

function refuseDenied(decision: Decision, { id: decisionId }: AuditEntry, hint?: string): void {
  if (decision.effect !== 'deny') return;
  const code = decision.rule?.id === PROTECTION_ID ? 'ACCESS_PROTECTED' : 'ACCESS_DENIED';
  throw new Problem(code, decision.reason, { decisionId, ...(hint !== undefined && { hint }) });
}

interface Wanted extends Pick<Subjects, 'resource' | 'action'> {
  /** What the caller is assigned. */
  readonly assignments: readonly UserAssignment[];
}

function rulesFor({ principal: { role }, tx, snapshot }: RequestContext, { resource, action, assignments }: Wanted): ApplicableRules {
  const applicable = applicableRules(snapshot.policies, { grants: assignments, role, resource: resource.name, action, now: tx.now });
  // By the database's clock, when it commits: an assignment does not last longer because a request does.
  tx.addToReadSet({ validUntil: applicable.validUntil });
  return applicable;
}

interface Question extends ScopeSubject {
  readonly applicable: ApplicableRules;
  readonly dataIsOpen?: boolean;
}

/** Decides and leaves the entry in the context. */
function conclude(context: RequestContext, question: Question, entryId: string): Decision {
  const { applicable, resource, action, recordId } = question;
  const { decision, scope } = evaluate(context, question);
  const facts = factsOf(readsToExplain(applicable, decision), scope, context.options.factsBytes);
  context.entries.push(toEntry(context, { id: entryId, resource, action, decision, recordId, facts }));
  return decision;
}

function evaluate(context: RequestContext, question: Question): { readonly decision: Decision; readonly scope: Scope } {
  const { principal } = context;
  const { applicable, dataIsOpen = false } = question;
  const known = scopeOf(context, question);
  const scope = dataIsOpen ? leaveOpen(known, ({ group, keys }) => group === 'request' && keys[0] === 'data') : known;
  const from = performance.now();
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  context.watch?.decided(performance.now() - from);
  return { decision, scope };
}

interface EntryParts extends Pick<AuditEntry, 'id' | 'recordId' | 'facts'> {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly decision: Decision;
}

function toEntry(context: RequestContext, parts: EntryParts): AuditEntry {
  const { decision } = parts;
  const rule = decidingRule(decision);
  return {
    id: parts.id,
    at: toInstantText(context.tx.now),
    kind: 'access',
    userId: context.principal.id,
    role: context.principal.role,
    resource: parts.resource.name,
    action: parts.action,
    recordId: parts.recordId,
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    ruleId: rule?.id,
    policyId: rule?.policy.id,
    epoch: context.snapshot.revision.number,
    requestId: context.origin.requestId,
    ip: context.origin.ip,
    facts: parts.facts,
  };
}
