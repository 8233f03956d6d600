/**
 * The decisions of a request, for the steps.
 *
 * | function                                   | on denial | audit entry                                          |
 * |--------------------------------------------|-----------|------------------------------------------------------|
 * | `authorize`, `authorizeEach`               | throws    | adds one per decision                                |
 * | `authorizeAgain`                           | throws    | replaces the earlier entry of the same action        |
 * | `decideOn`, `decideOnEach`                 | returns   | adds one per decision                                |
 * | `mayRead`, `readableAmong`                 | returns   | none: they only limit the response of another action |
 *
 * `authorize-action.ts` uses them for the columns of the pipeline.
 */
import { ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId } from '../../audit/index.ts';
import { createScope, leaveOpen, type RelatedRecords } from '../../authz/context/index.ts';
import { type Decision, decide } from '../../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, PROTECTION_ID, type UserAssignment } from '../../authz/policies/index.ts';
import { ALWAYS, type Condition, conditionPaths, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import {
  createRelatedStore,
  type ListQuery,
  loadReferenced,
  loadReferencedOfEach,
  prepareList,
  type Restriction,
  readSetOf,
} from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { requireWriteTime } from '../write-time.ts';
import { decideInDatabase } from './decide-in-database.ts';
import { changedIn, type DecisionInput, type MadeDecision, type ScopeValues, toDecisionEntry } from './decision-entry.ts';

/** The subject of one decision. Resource and action default to those of the request. */
interface Subject {
  readonly resource?: Resource;
  readonly action?: RuleAction;
  /** The record; undefined if it has no attributes; UNRESOLVED if it is not known yet. */
  readonly record: StoredRecord | typeof UNRESOLVED | undefined;
  readonly recordId?: string | undefined;
  /** The data sent for this record, if the request sends data for several records. */
  readonly data?: Json;
  /** True if the data of the request is not known yet. Conditions on unknown data stay residual, like conditions on an unknown record. */
  readonly dataIsOpen?: boolean;
  /** True if the record is the one that an update would store. Paths that lead back to its id read it, and the audit entry of its denial says so. */
  readonly isChangedRecord?: boolean;
}

/** Returns the context without the data of the request. Conditions of `read` rules must not see the data of another action. */
export function asRead(context: RequestContext): RequestContext {
  return { ...context, request: { ...context.request, data: undefined } };
}

/** Decides on a subject and throws on denial. @throws Problem ACCESS_DENIED, ACCESS_PROTECTED, REQUEST_BUDGET */
export async function authorize(context: RequestContext, subject: Subject): Promise<Decision> {
  const input = loadInput(context, subject);
  const decision = decideInput(context, input instanceof Promise ? await input : input, createEntryId());
  refuseDenied(decision, context.entries.at(-1) as AuditEntry);
  requireWriteTime(context);
  return decision;
}

/**
 * Decides an action again, on another state of its subject. The audit log shows one decision: the new entry replaces the last entry of
 * the same action and keeps its id. @throws Problem ACCESS_DENIED, ACCESS_PROTECTED
 */
export async function authorizeAgain(context: RequestContext, subject: Subject): Promise<Decision> {
  const action = subject.action ?? decidedAction(context);
  const earlier = context.entries.findLastIndex((entry) => entry.action === action);
  if (earlier === -1) throw new Error(`expected an earlier entry of the action "${action}"`);
  const decision = await decideOn(context, subject, context.entries[earlier]?.id);
  const entry = context.entries.pop() as AuditEntry;
  context.entries.splice(earlier, 1, entry);
  refuseDenied(decision, entry);
  return decision;
}

/** Decides on a subject and returns the decision, denied or not. */
export async function decideOn(context: RequestContext, subject: Subject, entryId: string = createEntryId()): Promise<Decision> {
  const input = loadInput(context, subject);
  // Most rules need no further record, and an await costs about as much as the decision.
  return decideInput(context, input instanceof Promise ? await input : input, entryId);
}

/**
 * Returns true if the caller may read the record. Adds no audit entry, because the decision only limits what the response of another
 * action shows, and the audit entry of that action names the record.
 */
export async function mayRead(context: RequestContext, record: StoredRecord): Promise<boolean> {
  const reading = asRead(context);
  const { decision } = evaluateInput(reading, await loadInput(reading, { record, recordId: record.id, action: 'read' }));
  return decision.effect === 'allow';
}

/** Returns the records of one resource that the caller may read. Adds no audit entries, like `mayRead`. */
export async function readableAmong(
  context: RequestContext,
  subjects: Pick<RecordSubjects, 'resource' | 'records'>,
): Promise<readonly StoredRecord[]> {
  const asReader = asRead(context);
  const inputOf = await loadInputs(asReader, { ...subjects, action: 'read' });
  return subjects.records.filter((record) => evaluateInput(asReader, inputOf(record)).decision.effect === 'allow');
}

/** Records of one resource and the action that is decided on each of them. */
export interface RecordSubjects {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly records: readonly StoredRecord[];
}

/** Decides on each record, in order, and returns the decisions. */
export async function decideOnEach(context: RequestContext, subjects: RecordSubjects): Promise<readonly Decision[]> {
  const inputOf = await loadInputs(context, subjects);
  return subjects.records.map((record) => decideInput(context, inputOf(record), createEntryId()));
}

/** Records to authorize, and the reaction to a denial. */
interface AuthorizedSubjects extends RecordSubjects {
  readonly hint: string;
  /** Receives the problem of a denied record. Throws it, or returns to continue with the next record. By default, throws. */
  readonly refuse?: (problem: Problem, record: StoredRecord) => Promise<void>;
}

/** Decides on each record, in order, and throws at the first denial, unless `refuse` returns. @throws Problem ACCESS_DENIED with `hint` */
export async function authorizeEach(
  context: RequestContext,
  { hint, refuse = throwProblem, ...subjects }: AuthorizedSubjects,
): Promise<void> {
  const inputOf = await loadInputs(context, subjects);
  for (const record of subjects.records) {
    const decision = decideInput(context, inputOf(record), createEntryId());
    const problem = toDenial(decision, context.entries.at(-1) as AuditEntry, hint);
    if (problem !== undefined) await refuse(problem, record);
    requireWriteTime(context);
  }
}

async function throwProblem(problem: Problem): Promise<never> {
  throw problem;
}

function refuseDenied(decision: Decision, entry: AuditEntry): void {
  const problem = toDenial(decision, entry);
  if (problem !== undefined) throw problem;
}

function toDenial(decision: Decision, { id: decisionId }: AuditEntry, hint?: string): Problem | undefined {
  if (decision.effect !== 'deny') return undefined;
  const code = decision.rule?.id === PROTECTION_ID ? 'ACCESS_PROTECTED' : 'ACCESS_DENIED';
  return new Problem(code, decision.reason, { decisionId, ...(hint !== undefined && { hint }) });
}

/**
 * Loads the input of one decision: the rules that apply, and the referenced records that the conditions of these rules read. Returns a promise
 * only if something has to be loaded.
 */
function loadInput(context: RequestContext, subject: Subject): DecisionInput | Promise<DecisionInput> {
  const { principal, tx, snapshot } = context;
  const inputWith = (assignments: readonly UserAssignment[]): DecisionInput | Promise<DecisionInput> => {
    const { resource = context.resource, action = decidedAction(context) } = subject;
    const applicable = rulesFor(context, { resource, action, assignments });
    const input: DecisionInput = { ...subject, applicable, resource, action };
    return applicable.referencePaths.length > 0 || applicable.countsRelated ? loadRecordsOf(context, input) : input;
  };
  const assignments = snapshot.assignments.of(tx, principal.id);
  return assignments instanceof Promise ? assignments.then(inputWith) : inputWith(assignments);
}

/** Adds the referenced and the related records that the conditions read. */
async function loadRecordsOf(context: RequestContext, input: DecisionInput): Promise<DecisionInput> {
  const { principal, tx, snapshot } = context;
  const { applicable, resource, record } = input;
  const { referencePaths: paths } = applicable;
  const query = { paths, principal, resource, changed: changedIn(input), onRead: readSetOf(tx) };
  const referenced = paths.length === 0 ? undefined : await loadReferenced(tx, snapshot.definitions, { ...query, record });
  const complete = { ...input, referenced };
  return applicable.countsRelated ? loadRelatedOf(context, complete) : complete;
}

/** Adds the related records that the conditions count. */
async function loadRelatedOf(context: RequestContext, input: DecisionInput): Promise<DecisionInput> {
  const related = createRelatedStore(context.tx, context.snapshot.definitions, { changed: changedIn(input) });
  const complete = { ...input, related };
  const made = await related.evaluate(
    () => decideIn(context, complete),
    () => decideInDatabase(context, complete, (values) => toScope(context, values)),
  );
  related.noteReads();
  return { ...complete, made };
}

/** Loads the input of many decisions, with one statement per reference instead of one per record. Returns a function that gives the input for a record. */
async function loadInputs(
  context: RequestContext,
  { resource, action, records }: RecordSubjects,
): Promise<(record: StoredRecord) => DecisionInput> {
  const { principal, tx, snapshot } = context;
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const applicable = rulesFor(context, { resource, action, assignments });
  const { referencePaths: paths } = applicable;
  const onRead = readSetOf(tx);
  const ofCaller = await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record: UNRESOLVED, onRead });
  const referencedOf = await loadReferencedOfEach({ tx, definitions: snapshot.definitions }, { paths, resource, records });
  const toInput = (record: StoredRecord): DecisionInput => {
    const referenced = new Map([...ofCaller, ...referencedOf(record, onRead)]);
    return { applicable, resource, action, record, recordId: record.id, referenced };
  };
  if (!applicable.countsRelated) return toInput;
  const complete = new Map<StoredRecord, DecisionInput>();
  for (const record of records) complete.set(record, await loadRelatedOf(context, toInput(record)));
  return (record) => complete.get(record) ?? toInput(record);
}

interface RuleQuery extends Pick<RecordSubjects, 'resource' | 'action'> {
  /** The assignments of the caller. */
  readonly assignments: readonly UserAssignment[];
}

function rulesFor({ principal: { role }, tx, snapshot }: RequestContext, { resource, action, assignments }: RuleQuery): ApplicableRules {
  const applicable = applicableRules(snapshot.policies, { assignments, role, resource: resource.name, action, now: tx.now });
  // The commit validates the expiry by the clock of the database, so a slow request does not extend an assignment.
  tx.addToReadSet({ validUntil: applicable.validUntil });
  return applicable;
}

function decidedAction({ request }: RequestContext): RuleAction {
  return ACTIONS.get(request.action)?.decides as RuleAction;
}

/** Decides and adds the audit entry to the context. */
function decideInput(context: RequestContext, input: DecisionInput, entryId: string): Decision {
  const { decision, scope } = evaluateInput(context, input);
  context.entries.push(toDecisionEntry(context, input, { id: entryId, decision, scope }));
  return decision;
}

/** Decides without adding an audit entry. */
function evaluateInput(context: RequestContext, input: DecisionInput): MadeDecision {
  const made = input.made ?? decideIn(context, input);
  context.observer?.decided(made.milliseconds);
  return made;
}

function decideIn(context: RequestContext, input: DecisionInput): MadeDecision {
  const from = performance.now();
  const { principal } = context;
  const { applicable, dataIsOpen = false } = input;
  const known = toScope(context, input);
  const scope = dataIsOpen ? leaveOpen(known, ({ group, keys }) => group === 'request' && keys[0] === 'data') : known;
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  return { decision, scope, milliseconds: performance.now() - from };
}

/** Creates the scope of a decision. Caller, origin and time are those of the request. */
function toScope({ principal, origin, request, tx, options, snapshot }: RequestContext, subject: ScopeValues): Scope {
  const { action, resource, record, recordId, referenced, related, data = request.data } = subject;
  const { now } = tx;
  const { timeZone } = options;
  const { definitions } = snapshot;
  return createScope({ principal, action, resource, record, recordId, origin, data, now, timeZone, definitions, referenced, related });
}

/** A condition on the records of a list. */
interface ListedRecords extends Pick<RecordSubjects, 'resource' | 'action'> {
  readonly where: Condition;
  /** The listed records by their soft deletion; by default, those that are not deleted. */
  readonly existence?: ListQuery['existence'];
}

/**
 * Returns the restriction of a list to the records that a condition matches, with the scopes in which it is evaluated for one record. Conditions on
 * related records that the caller determines are replaced by comparisons.
 */
export async function restrictionFor(context: RequestContext, { resource, action, where, existence }: ListedRecords): Promise<Restriction> {
  const { tx, snapshot, principal, options } = context;
  const { definitions } = snapshot;
  const paths = conditionPaths(where);
  const onRead = readSetOf(tx);
  const ofCaller = await loadReferenced(tx, definitions, { paths, principal, resource, record: UNRESOLVED, onRead });
  const ofList: ScopeValues = { resource, action, record: UNRESOLVED, referenced: ofCaller };
  const scopeWith = (related?: RelatedRecords): Scope => toScope(context, { ...ofList, related });
  return {
    ...(await prepareList(tx, { where, resource, definitions, existence, timeZone: options.timeZone, scopeWith })),
    decided: where,
    scopeFor: (record, { referenced: ofRecord, related }) =>
      toScope(context, { resource, action, record, recordId: record.id, referenced: new Map([...ofCaller, ...ofRecord]), related }),
  };
}

/** Returns the condition that matches the records that a decision allows. Throws an internal error for a denial, which callers refuse earlier. */
export function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'allow-where') return decision.where;
  if (decision.effect === 'allow') return ALWAYS;
  throw new Error('expected a decision that allows, given a denial');
}
