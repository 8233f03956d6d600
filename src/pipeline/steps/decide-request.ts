/**
 * The decisions of a request. Every function that decides adds the audit entry of its decision to the context, except
 * `mayRead`. The functions of the pipeline's columns come first; `loadInput`, `decideOnInput` and `evaluateInput` below do their work.
 */
import { ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId, factsOf, readsToExplain } from '../../audit/index.ts';
import { createScope, leaveOpen, type ReferencedRecords, type ScopeInput } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule } from '../../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, PROTECTION_ID, type UserAssignment } from '../../authz/policies/index.ts';
import { ALWAYS, type Condition, conditionPaths, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { type Json, toInstantText } from '../../operators/index.ts';
import { hasIncrement, type Resource, type StoredRecord } from '../../resources/index.ts';
import { type ListQuery, loadReferenced, loadReferencedOfEach } from '../../storage/index.ts';
import type { Decided, Found, Proposal, RequestContext } from '../request-context.ts';

/** The subject of a decision. Resource and action default to those of the request. */
interface Subject {
  readonly resource?: Resource;
  readonly action?: RuleAction;
  /** The record; undefined is a record without attributes; UNRESOLVED is any record. */
  readonly record: StoredRecord | typeof UNRESOLVED | undefined;
  readonly recordId?: string | undefined;
  /** The data sent for this record, if it is a part of the request's data. */
  readonly data?: Json;
  /** True if the request's data is not known yet: conditions on it stay open, like conditions on an open record. */
  readonly dataIsOpen?: boolean;
}

/** Decides on the stored record. A record that does not exist has no attributes, so it is denied like one that the caller may not access. */
export function decideRecord(context: RequestContext, found: Found): Promise<Decision> {
  return decideOrRefuse(context, { record: found[0], recordId: context.request.id ?? found[0]?.id });
}

/**
 * Decides on the stored record. An increment also needs a read decision, with its own entry: its result depends on the stored value,
 * so a refused result would reveal the value.
 */
export async function decideUpdate(context: RequestContext, found: Found): Promise<Decision> {
  const decision = await decideRecord(context, found);
  if (hasIncrement(context.resource, context.request.data)) {
    await decideOrRefuse(asRead(context), { record: found[0], recordId: context.request.id, action: 'read' });
  }
  return decision;
}

/** Decides on the record that a create would store. */
export function decideProposed(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  return decideOrRefuse(context, { record: proposals[0]?.record });
}

/** Decides on each record of an import. The first denial refuses all, and the records after it are not computed. */
export async function decideEachProposed(context: RequestContext, _found: Found, proposals: readonly Proposal[]): Promise<Decision> {
  const rows = context.request.data as readonly Json[];
  let first: Decision | undefined;
  for (const [index, { record }] of proposals.entries()) {
    const decision = await decideOrRefuse(context, { record, data: rows[index] ?? null });
    first ??= decision;
  }
  return first as Decision;
}

/** Decides with the record open: deny, allow, or allow-where. */
export function decideOpen(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(context, { record: UNRESOLVED });
}

/** Allows the description of a resource to callers who may read or list it. A residual condition on the records counts as allowed. */
export async function decideDescription(context: RequestContext): Promise<Decision> {
  const reading = await decideOn(context, { record: UNRESOLVED, action: 'read' });
  if (reading.effect !== 'deny') return reading;
  context.entries.pop();
  return decideOrRefuse(context, { record: UNRESOLVED, action: 'list' });
}

/** Returns true if the caller may see the description of the context's resource. The entries of the decisions stay in the context. */
export async function maySeeDescription(context: RequestContext): Promise<boolean> {
  for (const action of ['read', 'list'] as const) {
    if ((await decideOn(context, { record: UNRESOLVED, action })).effect !== 'deny') return true;
  }
  return false;
}

/** Decides again, on the record as the update would store it. */
export async function decideChanged(context: RequestContext, { found, proposals }: Decided): Promise<undefined> {
  const changed = proposals[0]?.record;
  if (changed === undefined || found.length === 0) return;
  await decideAgain(context, { record: changed, recordId: changed.id });
}

/** Decides whether the caller may delete, with the record open and with its own entry: such callers may list soft-deleted records. */
export function decideDeletion(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(context, { record: UNRESOLVED, action: 'delete' });
}

/** Decides which records a filter may match: those that the caller may read. The decision has its own entry. */
export function decideReading(context: RequestContext): Promise<Decision> {
  return decideOrRefuse(asRead(context), { record: UNRESOLVED, action: 'read' });
}

/** Returns the context without data. A read sends none, so the data of another action must not open more records than a read would. */
export function asRead(context: RequestContext): RequestContext {
  return { ...context, request: { ...context.request, data: undefined } };
}

/** Decides on a subject. @throws Problem ACCESS_DENIED, ACCESS_PROTECTED */
export async function decideOrRefuse(context: RequestContext, subject: Subject): Promise<Decision> {
  const decision = await decideOn(context, subject);
  refuseDenied(decision, context.entries.at(-1) as AuditEntry);
  return decision;
}

/**
 * Decides an action again, on another state of its subject. Both count as one decision: the new entry replaces the earlier one of
 * the same action and keeps its id. @throws Problem ACCESS_DENIED, ACCESS_PROTECTED
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

/** Decides on a subject and returns the decision, denied or not. */
export async function decideOn(context: RequestContext, subject: Subject, entryId: string = createEntryId()): Promise<Decision> {
  return decideOnInput(context, await loadInput(context, subject), entryId);
}

/**
 * Returns true if the caller may read the record. It adds no entry, because it only limits what the response of another action shows,
 * and the entry of that action names the record.
 */
export async function mayRead(context: RequestContext, record: StoredRecord): Promise<boolean> {
  const reading = asRead(context);
  const { decision } = evaluateInput(reading, await loadInput(reading, { record, recordId: record.id, action: 'read' }));
  return decision.effect === 'allow';
}

/** Records of one resource on which one action is decided, each by itself. */
export interface Subjects {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly records: readonly StoredRecord[];
}

/** Decides on each record, in order. */
export async function decideOnEach(context: RequestContext, subjects: Subjects): Promise<readonly Decision[]> {
  const decideNext = await loadInputs(context, subjects);
  return subjects.records.map(decideNext);
}

/** Decides on each record, in order, up to the first that is denied. @throws Problem ACCESS_DENIED with `hint` */
export async function decideOrRefuseEach(
  context: RequestContext,
  { hint, ...subjects }: Subjects & { readonly hint: string },
): Promise<void> {
  const decideNext = await loadInputs(context, subjects);
  for (const record of subjects.records) refuseDenied(decideNext(record), context.entries.at(-1) as AuditEntry, hint);
}

function refuseDenied(decision: Decision, { id: decisionId }: AuditEntry, hint?: string): void {
  if (decision.effect !== 'deny') return;
  const code = decision.rule?.id === PROTECTION_ID ? 'ACCESS_PROTECTED' : 'ACCESS_DENIED';
  throw new Problem(code, decision.reason, { decisionId, ...(hint !== undefined && { hint }) });
}

/** The rules and the data of one decision. */
interface DecisionInput extends ScopeSubject {
  readonly applicable: ApplicableRules;
  readonly dataIsOpen?: boolean;
}

/** Loads the rules that apply and the referenced records that their conditions read. */
async function loadInput(context: RequestContext, subject: Subject): Promise<DecisionInput> {
  const { principal, tx, snapshot } = context;
  const resource = subject.resource ?? context.resource;
  const action = subject.action ?? decidedAction(context);
  const grants = await snapshot.assignments.of(tx, principal.id);
  const applicable = rulesFor(context, { resource, action, grants });
  const { reaches: paths } = applicable;
  const { record } = subject;
  // Most rules read no referenced record, and an await costs about as much as the decision.
  const referred = paths.length === 0 ? undefined : await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record });
  return { ...subject, applicable, resource, action, referred };
}

/** Loads the input of many decisions, with one statement per reference instead of one per record. Returns the function that decides. */
async function loadInputs(context: RequestContext, { resource, action, records }: Subjects): Promise<(record: StoredRecord) => Decision> {
  const { principal, tx, snapshot } = context;
  const grants = await snapshot.assignments.of(tx, principal.id);
  const applicable = rulesFor(context, { resource, action, grants });
  const { reaches: paths } = applicable;
  const ofCaller = await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record: UNRESOLVED });
  const referredOf = await loadReferencedOfEach(tx, snapshot.definitions, { paths, resource, records });
  return (record) => {
    const referred = new Map([...ofCaller, ...referredOf(record)]);
    return decideOnInput(context, { applicable, resource, action, record, recordId: record.id, referred }, createEntryId());
  };
}

interface RuleQuery extends Pick<Subjects, 'resource' | 'action'> {
  /** The assignments of the caller. */
  readonly grants: readonly UserAssignment[];
}

function rulesFor({ principal: { role }, tx, snapshot }: RequestContext, { resource, action, grants }: RuleQuery): ApplicableRules {
  const applicable = applicableRules(snapshot.policies, { grants, role, resource: resource.name, action, now: tx.now });
  // The database checks the expiry by its own clock at the commit, so a slow request does not extend an assignment.
  tx.addToReadSet({ validUntil: applicable.validUntil });
  return applicable;
}

function decidedAction({ request }: RequestContext): RuleAction {
  return ACTIONS.get(request.action)?.decides as RuleAction;
}

function decideOnInput(context: RequestContext, input: DecisionInput, entryId: string): Decision {
  const { decision, scope } = evaluateInput(context, input);
  const facts = factsOf(readsToExplain(input.applicable, decision), scope, context.options.factsBytes);
  context.entries.push(toEntry(context, input, { id: entryId, decision, facts }));
  return decision;
}

function evaluateInput(context: RequestContext, input: DecisionInput): { readonly decision: Decision; readonly scope: Scope } {
  const { principal } = context;
  const { applicable, dataIsOpen = false } = input;
  const known = toScope(context, input);
  const scope = dataIsOpen ? leaveOpen(known, ({ group, keys }) => group === 'request' && keys[0] === 'data') : known;
  const from = performance.now();
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  context.watch?.decided(performance.now() - from);
  return { decision, scope };
}

interface EntryValues extends Pick<AuditEntry, 'id' | 'facts'> {
  readonly decision: Decision;
}

function toEntry(context: RequestContext, { resource, action, recordId }: DecisionInput, { id, decision, facts }: EntryValues): AuditEntry {
  const rule = decidingRule(decision);
  return {
    id,
    at: toInstantText(context.tx.now),
    kind: 'access',
    userId: context.principal.id,
    role: context.principal.role,
    resource: resource.name,
    action,
    recordId,
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    ruleId: rule?.id,
    policyId: rule?.policy.id,
    epoch: context.snapshot.revision.number,
    requestId: context.origin.requestId,
    ip: context.origin.ip,
    facts,
  };
}

/** The part of a scope that differs between the decisions of a request. */
type ScopeSubject = Pick<ScopeInput, 'action' | 'resource' | 'record' | 'recordId' | 'referred' | 'data'>;

/** Returns the values that conditions read. Caller, origin and time are those of the request. */
function toScope({ principal, origin, request, tx, options, snapshot }: RequestContext, subject: ScopeSubject): Scope {
  const { action, resource, record, recordId, referred, data = request.data } = subject;
  const { now } = tx;
  const { timeZone } = options;
  const { definitions } = snapshot;
  return createScope({ principal, action, resource, record, recordId, origin, data, now, timeZone, definitions, referred });
}

/** Returns a function that creates the scope in which a residual condition is evaluated for one record of a list. */
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
    toScope(context, { resource, action, record, recordId: record.id, referred: new Map([...ofCaller, ...ofRecord]) });
}

/** Returns the condition of a decision with the record open. Throws for a denial, which must be refused before any record is selected. */
export function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'allow-where') return decision.where;
  if (decision.effect === 'allow') return ALWAYS;
  throw new Error('expected a decision that allows, given a denial');
}
