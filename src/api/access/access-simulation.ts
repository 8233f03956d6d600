/**
 * Simulates a request: decides and explains it with a hypothesis applied to the stored values. A create is decided on the record that it would
 * create; an update on the current record and on the changed record, and with an increment also on a read.
 */
import { CREATES_RECORD, type RuleAction, SELECTS_RECORDS } from '../../actions.ts';
import { applyHypothesis, createScope, type Hypothesis, leaveOpen, type Principal, type ScopeInput } from '../../authz/context/index.ts';
import { type Explanation, explain } from '../../authz/decision/index.ts';
import type { ApplicableRules } from '../../authz/policies/index.ts';
import { type Path, UNRESOLVED } from '../../conditions/index.ts';
import type { Issue } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { proposeChange, proposeRecord } from '../../pipeline/index.ts';
import { hasIncrement, type Resource, type StoredRecord } from '../../resources/index.ts';
import {
  type ChangedRecord,
  createRelatedStore,
  loadReferenced,
  MAX_RELATED,
  type RelatedStore,
  toChangedRecord,
} from '../../storage/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import { DENIED_INACTIVE, loadAskedRecord, loadIntactUser, toPrincipal } from './partial-decisions.ts';

/** The hypothetical request of a test. */
export interface AccessTest {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly recordId: string | undefined;
  /** True for a restore, which is decided on the deleted record. */
  readonly isRestore?: boolean;
  /** True if the record is unknown, so that conditions on it stay residual. */
  readonly isAnyRecord?: boolean | undefined;
  /** True if the request has the method and the path of the origin. Otherwise both stay unknown, because clients can send an action by several methods and URLs. */
  readonly isOriginKnown?: boolean;
  readonly userId: string | undefined;
  readonly hypothesis: Hypothesis;
  readonly data: Json | undefined;
}

/** The members of a request that select the rules that apply. */
export interface RulesQuery {
  readonly userId: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** Time of the hypothetical request. Assignments that have expired by then do not apply. */
  readonly now: number;
}

/** The result of a simulation. */
export interface SimulatedAccess {
  readonly explanation: Explanation;
  /** All decisions of the request in their order: an update is also decided on the changed record. */
  readonly decisions: readonly Explanation[];
  readonly principal: Principal;
  /** The stored user and record that the test names. */
  readonly stored: { readonly user: StoredRecord | undefined; readonly record: StoredRecord | undefined };
  /** Mistakes in the values of the request. */
  readonly issues: readonly Issue[];
  /** False if the user is inactive, as stored or in the hypothesis. */
  readonly isActive: boolean;
}

/** The transaction, the policies and the origin of a simulation. */
export interface SimulationContext extends Pick<AdminRequest, 'tx' | 'snapshot' | 'origin'> {
  readonly deps: Pick<AdminRequest['deps'], 'timeZone'>;
  /** Related records that earlier simulations have loaded in the same transaction, if it changes none. */
  readonly related?: RelatedStore | undefined;
}

/** The number of times that a condition is evaluated to decide, to explain its answer, and to explain each of its records. */
const EXPLAINED = 3;

/** A function that returns the rules that apply to a request. */
type RulesFor = (query: RulesQuery) => Promise<ApplicableRules>;

/**
 * Decides the request with the rules that `rulesFor` returns, and explains the decision. An inactive user is denied, but the trace shows the
 * result of the policies. Writes no audit entry.
 */
export async function simulateAccess(admin: SimulationContext, test: AccessTest, rulesFor: RulesFor): Promise<SimulatedAccess> {
  const simulated = await simulateActive(admin, test, rulesFor);
  const isActive = isActiveIn(test, simulated);
  return { ...simulated, isActive, explanation: isActive ? simulated.explanation : denyInactive(simulated.explanation) };
}

async function simulateActive(admin: SimulationContext, test: AccessTest, rulesFor: RulesFor): Promise<Omit<SimulatedAccess, 'isActive'>> {
  const { tx, snapshot } = admin;
  const makesRecord = CREATES_RECORD.has(test.action);
  const user = test.userId === undefined ? undefined : await loadIntactUser(admin, test.userId);
  const { recordId: id, isRestore = false } = test;
  const record = id === undefined || makesRecord ? undefined : await loadAskedRecord(tx, test.resource, { id, isRestore });
  const laid = applyHypothesis(scopeInputOf(admin, test, { user, record }), test.hypothesis);
  const { principal, now, resource } = laid;
  const decisions: Explanation[] = [];
  const explainWith = async (input: ScopeInput): Promise<Explanation> => {
    const who = { userId: principal.id, role: principal.role };
    const applicable = await rulesFor({ ...who, resource: resource.name, action: input.action, now });
    const changed = toUnstored(input, record);
    const referenced = await loadReferenced(tx, snapshot.definitions, { ...input, changed, paths: applicable.referencePaths });
    const related = applicable.countsRelated ? relatedFor(admin, changed) : undefined;
    const scope = createScope({ ...input, referenced, related });
    const known = test.isOriginKnown === true ? scope : leaveOpen(scope, isMethodOrUrl);
    const run = (): Explanation => explain(applicable, known, who);
    const explanation = related === undefined ? run() : await related.evaluate(run);
    decisions.push(explanation);
    return explanation;
  };
  const simulated = { principal, stored: { user, record }, decisions };
  if (makesRecord) {
    const made = proposeRecord(laid, test.data ?? {});
    const explanation = await explainWith({ ...laid, record: { ...made.record, ...recordValues(laid) } });
    return { ...simulated, explanation, issues: test.data === undefined ? [] : made.issues };
  }
  const first = await explainWith(laid);
  const change = test.action === 'update' && test.data !== undefined ? changeOf(laid, test.data) : undefined;
  const issues = change?.issues ?? [];
  if (first.decision.effect === 'deny') return { ...simulated, explanation: first, issues };
  if (test.action === 'update' && hasIncrement(resource, test.data)) {
    const reading = await explainWith({ ...laid, action: 'read', data: undefined });
    if (reading.decision.effect === 'deny') return { ...simulated, explanation: { ...reading, note: NEEDS_READ }, issues };
  }
  if (change === undefined) return { ...simulated, explanation: first, issues };
  return { ...simulated, explanation: withChangeNote(await explainWith({ ...laid, record: change.record })), issues };
}

const NEEDS_READ = 'the update passes, but an increment also needs read on the current record, which this decision denies';

/** Returns true if the user is active. A user who is not stored is active unless the hypothesis says otherwise. */
function isActiveIn({ hypothesis }: AccessTest, { principal, stored }: Pick<SimulatedAccess, 'principal' | 'stored'>): boolean {
  return stored.user === undefined ? hypothesis.user?.['isActive'] !== false : principal.attributes['isActive'] === true;
}

function denyInactive({ trace, ties }: Explanation): Explanation {
  return {
    decision: DENIED_INACTIVE,
    trace,
    ties,
    note: 'requests of this user are refused before policies are evaluated; the trace shows the result of the policies',
  };
}

/** Returns the input of the scope, before the hypothesis is applied. A user who is not stored has role `anon`; the record of a list or export without an id, or of a test for any record, is unknown. */
function scopeInputOf(
  { tx, snapshot, deps, origin }: SimulationContext,
  test: AccessTest,
  { user, record }: SimulatedAccess['stored'],
): ScopeInput {
  const isOfMany = SELECTS_RECORDS.has(test.action);
  return {
    principal: user === undefined ? { id: test.userId, role: 'anon', attributes: {} } : toPrincipal(user),
    action: test.action,
    resource: test.resource,
    record: (isOfMany || test.isAnyRecord === true) && test.recordId === undefined ? UNRESOLVED : record,
    recordId: test.recordId,
    origin,
    data: test.data,
    now: tx.now,
    timeZone: deps.timeZone,
    definitions: snapshot.definitions,
  };
}

/** Returns the record of a decision unless it is the stored one: with the values of a hypothesis, or as an update would store it. */
function toUnstored({ resource, record, recordId }: ScopeInput, stored: StoredRecord | undefined): ChangedRecord | undefined {
  if (record === stored || record === undefined || record === UNRESOLVED || recordId === undefined) return undefined;
  return toChangedRecord(resource, { version: 1, ...record, id: recordId });
}

function relatedFor({ tx, snapshot, related }: SimulationContext, changed: ChangedRecord | undefined): RelatedStore {
  if (changed === undefined && related !== undefined) return related;
  return createRelatedStore(tx, snapshot.definitions, { maxCompared: EXPLAINED * MAX_RELATED, changed });
}

/** Returns true if a path reads the method or path of the request. */
function isMethodOrUrl({ group, keys: [key] }: Path): boolean {
  return group === 'request' && (key === 'method' || key === 'path');
}

function recordValues({ record }: ScopeInput): object {
  return record === UNRESOLVED || record === undefined ? {} : record;
}

/** Returns the record after the update, with the mistakes in the data; undefined if no record is known. */
function changeOf(
  laid: ScopeInput,
  data: Json,
): { readonly record: NonNullable<ScopeInput['record']>; readonly issues: readonly Issue[] } | undefined {
  if (laid.record === undefined || laid.record === UNRESOLVED) return undefined;
  const { record, issues } = proposeChange(laid, { version: 1, ...laid.record, id: laid.recordId ?? '' }, data);
  const { id: _, ...withoutId } = record;
  return { record: laid.recordId === undefined ? withoutId : record, issues };
}

function withChangeNote(explanation: Explanation): Explanation {
  if (explanation.decision.effect !== 'deny') return explanation;
  return { ...explanation, note: 'the current record passes; the changed record does not' };
}
