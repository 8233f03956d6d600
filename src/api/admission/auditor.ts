/**
 * The right of users who are not admins to read the audit log. A rule must name the system resource `_Decision`. The rule may restrict the
 * entries, by conditions that the database evaluates exactly.
 */
import { type AuditEntry, appendEntry, factsOf, readsToExplain } from '../../audit/index.ts';
import { createScope, type Principal } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule } from '../../authz/decision/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { type AUDIT_ACTIONS, AUDIT_LOG_NAME, applicableRules, type CompiledRule } from '../../authz/policies/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import { createRelatedStore, exactFilter, loadReferenced, readSetOf, type Transaction } from '../../storage/index.ts';
import { type AdminEntryInput, type RequestInfo, toAdminEntry } from './admin-entry.ts';

/** The right of a caller to read the audit log. */
export interface Auditor {
  /** Matches the entries that the caller may read, on the columns of `_Decision`; absent if the caller may read all. */
  readonly where: Sql | undefined;
  /** The members of the audit entry that describe the decision. */
  readonly decision: Omit<AdminEntryInput, 'recordId'>;
}

/** A caller, and the action on the audit log that is decided. */
export interface AuditorQuestion {
  readonly origin: RequestInfo['origin'];
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  readonly action: AuditAction;
  /** IANA name. */
  readonly timeZone: string;
}

/** A request to read the audit log. */
export interface AuditorRequest extends Omit<AuditorQuestion, 'origin'> {
  readonly info: RequestInfo;
}

/** An action on the audit log. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Maximum bytes of condition values in the audit entry. */
const FACTS_BYTES = 4096;

/**
 * Decides if the caller may read the audit log. Returns undefined if no rule about the audit log decides; appends an entry and returns the
 * problem for a denial, because throwing would roll back the entry.
 */
export async function decideForAuditor(tx: Transaction, { info, ...request }: AuditorRequest): Promise<Auditor | Problem | undefined> {
  const decided = await evaluateAuditRight(tx, { ...request, origin: info.origin });
  if (decided === undefined) return undefined;
  const { where, rule, reason, facts } = decided;
  const described: Auditor['decision'] = {
    now: tx.now,
    kind: 'access',
    allowed: decided.effect !== 'deny',
    resource: AUDIT_LOG_NAME,
    action: request.action,
    reason,
    ruleId: rule.id,
    policyId: rule.policy.id,
    epoch: request.snapshot.revision.number,
    facts,
  };
  if (described.allowed) return { where, decision: described };
  const entry = toAdminEntry(info, request.principal, described);
  appendEntry(tx, entry);
  return new Problem('ACCESS_DENIED', reason, { decisionId: entry.id });
}

/** The decision of a rule about the audit log. */
export interface AuditRight extends Pick<Auditor, 'where'> {
  /** `conditional`: the caller may read the entries that `where` matches. */
  readonly effect: 'allow' | 'deny' | 'conditional';
  readonly rule: CompiledRule;
  readonly reason: string;
  readonly facts: JsonObject | undefined;
}

/**
 * Decides the action on entries that are not known yet, without an audit entry. Returns undefined if no rule about the audit log decides. A
 * condition that the database cannot evaluate exactly denies.
 */
export async function evaluateAuditRight(tx: Transaction, question: AuditorQuestion): Promise<AuditRight | undefined> {
  const { snapshot, timeZone } = question;
  const resource = snapshot.definitions.get(AUDIT_LOG_NAME) as Resource;
  const { decision, facts } = await decideAction(tx, question, resource);
  const rule = decidingRule(decision);
  if (rule === undefined) return undefined;
  const { reason } = decision;
  if (decision.effect !== 'allow-where') return { effect: decision.effect, where: undefined, rule, reason, facts };
  const moment = { dialect: tx.dialect, now: tx.now, timeZone, definitions: snapshot.definitions };
  const where = exactFilter(decision.where, resource, moment);
  if (where !== undefined) return { effect: 'conditional', where, rule, reason, facts };
  return { effect: 'deny', where, rule, reason: `the database cannot evaluate the conditions of ${rule.label}`, facts };
}

/** Returns an entry as an auditor sees it: the values that conditions read are for admins. */
export function withoutFacts({ facts: _, ...entry }: AuditEntry): AuditEntry {
  return entry;
}

interface AuditorDecision {
  readonly decision: Decision;
  readonly facts: JsonObject | undefined;
}

/** Decides the action on entries that are not known yet. */
async function decideAction(tx: Transaction, question: AuditorQuestion, resource: Resource): Promise<AuditorDecision> {
  const { principal, snapshot, action, timeZone, origin } = question;
  const { definitions } = snapshot;
  const { now } = tx;
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const applicable = applicableRules(snapshot.policies, { assignments, role: principal.role, resource: resource.name, action, now });
  tx.addToReadSet({ validUntil: applicable.validUntil });
  const paths = applicable.referencePaths;
  const referenced = await loadReferenced(tx, definitions, { paths, principal, resource, record: UNRESOLVED, onRead: readSetOf(tx) });
  const related = createRelatedStore(tx, definitions);
  const scope = createScope({ principal, action, resource, record: UNRESOLVED, origin, now, timeZone, definitions, referenced, related });
  const decision = await related.evaluate(() => decide(applicable, scope, { userId: principal.id, role: principal.role }));
  related.noteReads();
  const kept = { maxBytes: FACTS_BYTES, related: related.facts({ resource: resource.name }) };
  return { decision, facts: factsOf(readsToExplain(applicable, decision), scope, kept) };
}
