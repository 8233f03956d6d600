/**
 * A request thought of, decided as it would be: a create on the record that it would make, an update on the record as it
 * is and as it would become. Whatever the test says takes the place of what is stored.
 */
import type { RuleAction } from '../actions.ts';
import { applyHypothesis, createScope, type Hypothesis, leaveOpen, type Principal, type ScopeInput } from '../authz/context/index.ts';
import { type Explanation, explain } from '../authz/decision/index.ts';
import type { ApplicableRules } from '../authz/policies/index.ts';
import { type Path, UNRESOLVED } from '../conditions/index.ts';
import type { Issue } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { proposeChange, proposeRecord } from '../pipeline/index.ts';
import type { Resource, StoredRecord } from '../resources/index.ts';
import { loadRecord, loadReferenced } from '../storage/index.ts';
import type { AdminCall } from './admin-endpoint.ts';
import { DENIED_INACTIVE, MAKES_RECORD, toPrincipal } from './partial-decisions.ts';

/** The request, as far as a test says it. */
export interface AccessTest {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly recordId: string | undefined;
  readonly userId: string | undefined;
  readonly hypothesis: Hypothesis;
  readonly data: Json | undefined;
}

/** Selects the rules that apply to a request. */
export interface RulesQuery {
  readonly userId: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** The moment tried out: an assignment that has expired by then does not apply. */
  readonly now: number;
}

/** What the request comes to. */
export interface Tried {
  readonly explanation: Explanation;
  readonly principal: Principal;
  /** What is stored of those that the test names. */
  readonly stored: { readonly user: StoredRecord | undefined; readonly record: StoredRecord | undefined };
  /** For what the values sent would be refused, were the request allowed. */
  readonly issues: readonly Issue[];
  /** False where the user's token would be refused: the user is stored as inactive, or the test says so. */
  readonly isActive: boolean;
}

/** Returns the rules that apply. */
type RulesFor = (asked: RulesQuery) => Promise<ApplicableRules>;

/**
 * Decides the request with the rules that `rulesFor` picks, and explains the decision. A user who is not active is denied; the
 * trace then shows what policies say. Leaves no entry.
 */
export async function tryAccess(admin: AdminCall, test: AccessTest, rulesFor: RulesFor): Promise<Tried> {
  const tried = await tryActive(admin, test, rulesFor);
  const isActive = isActiveIn(test, tried);
  return { ...tried, isActive, explanation: isActive ? tried.explanation : denyInactive(tried.explanation) };
}

async function tryActive(admin: AdminCall, test: AccessTest, rulesFor: RulesFor): Promise<Omit<Tried, 'isActive'>> {
  const { tx, snapshot } = admin;
  const makesRecord = MAKES_RECORD.has(test.action);
  const user = test.userId === undefined ? undefined : await loadRecord(tx, snapshot.user, test.userId);
  const record = test.recordId === undefined || makesRecord ? undefined : await loadRecord(tx, test.resource, test.recordId);
  const laid = applyHypothesis(partsOf(admin, test, { user, record }), test.hypothesis);
  const { principal, now, resource, action } = laid;
  const look = async (parts: ScopeInput): Promise<Explanation> => {
    const who = { userId: principal.id, role: principal.role };
    const applicable = await rulesFor({ ...who, resource: resource.name, action, now });
    const referred = await loadReferenced(tx, snapshot.definitions, { ...parts, paths: applicable.reaches });
    return explain(applicable, leaveOpen(createScope({ ...parts, referred }), isOfTransport), who);
  };
  const tried = { principal, stored: { user, record } };
  if (makesRecord) {
    const made = proposeRecord(laid, test.data ?? {});
    const explanation = await look({ ...laid, record: { ...made.record, ...hypotheticalRecord(laid) } });
    return { ...tried, explanation, issues: test.data === undefined ? [] : made.issues };
  }
  const first = await look(laid);
  const change = action === 'update' && test.data !== undefined ? changeOf(laid, test.data) : undefined;
  if (change === undefined || first.decision.effect === 'deny') return { ...tried, explanation: first, issues: change?.issues ?? [] };
  return { ...tried, explanation: noted(await look({ ...laid, record: change.record })), issues: change.issues };
}

/** Of a user who is not stored, only the test can say that the user is not active. */
function isActiveIn({ hypothesis }: AccessTest, { principal, stored }: Pick<Tried, 'principal' | 'stored'>): boolean {
  return stored.user === undefined ? hypothesis.user?.['isActive'] !== false : principal.attributes['isActive'] === true;
}

function denyInactive({ trace, ties }: Explanation): Explanation {
  return {
    decision: DENIED_INACTIVE,
    trace,
    ties,
    note: 'the token is refused before any policy is read; the trace shows what policies say',
  };
}

/** What is known without the test's saying so. A user that is not stored is `anon`; a list is of any record. */
function partsOf({ tx, snapshot, parts, call }: AdminCall, test: AccessTest, { user, record }: Tried['stored']): ScopeInput {
  const isOfMany = test.action === 'list' || test.action === 'export';
  return {
    principal: user === undefined ? { id: test.userId, role: 'anon', attributes: {} } : toPrincipal(user),
    action: test.action,
    resource: test.resource,
    record: isOfMany && test.recordId === undefined ? UNRESOLVED : record,
    recordId: test.recordId,
    origin: call.origin,
    data: test.data,
    now: tx.now,
    timeZone: parts.timeZone,
    definitions: snapshot.definitions,
  };
}

/** By which door the request would come is not said, and the door of the test is another. */
function isOfTransport({ group, keys: [key] }: Path): boolean {
  return group === 'request' && (key === 'method' || key === 'path');
}

function hypotheticalRecord({ record }: ScopeInput): object {
  return record === UNRESOLVED || record === undefined ? {} : record;
}

/** The record as the update would leave it; undefined where there is none to update. */
function changeOf(
  laid: ScopeInput,
  data: Json,
): { readonly record: NonNullable<ScopeInput['record']>; readonly issues: readonly Issue[] } | undefined {
  if (laid.record === undefined || laid.record === UNRESOLVED) return undefined;
  const { record, issues } = proposeChange(laid, { version: 1, ...laid.record, id: laid.recordId ?? '' }, data);
  const { id: _, ...withoutId } = record;
  return { record: laid.recordId === undefined ? withoutId : record, issues };
}

function noted(explanation: Explanation): Explanation {
  if (explanation.decision.effect !== 'deny') return explanation;
  return { ...explanation, note: 'the record as it is passes; the record as this change would leave it does not' };
}
