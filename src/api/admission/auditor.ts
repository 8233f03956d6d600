/**
 * The right of users who are not admins to read the audit log. A rule must name the system resource `_Decision`. The rule may restrict the
 * entries, by conditions that the database evaluates exactly.
 */
import type { RuleAction } from '../../actions.ts';
import { type AuditEntry, appendEntry, factsOf, readsToExplain } from '../../audit/index.ts';
import { createScope, type Principal } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule } from '../../authz/decision/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { AUDIT_LOG_NAME, applicableRules } from '../../authz/policies/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import { exactFilter, loadReferenced, type Transaction } from '../../storage/index.ts';
import { type AdminEntryInput, type RequestInfo, toAdminEntry } from './admin-entry.ts';

/** The right of a caller to read the audit log. */
export interface Auditor {
  /** Matches the entries that the caller may read, on the columns of `_Decision`; absent if the caller may read all. */
  readonly where: Sql | undefined;
  /** The members of the audit entry that describe the decision. */
  readonly decision: Omit<AdminEntryInput, 'recordId'>;
}

/** A request to read the audit log. */
export interface AuditorRequest {
  readonly info: RequestInfo;
  readonly principal: Principal;
  readonly snapshot: Snapshot;
  readonly action: RuleAction;
  /** IANA name. */
  readonly timeZone: string;
}

/** Maximum bytes of condition values in the audit entry. */
const FACTS_BYTES = 4096;

/**
 * Decides if the caller may read the audit log. Returns undefined if no rule about the audit log decides; appends an entry and returns the
 * problem for a denial, because throwing would roll back the entry.
 */
export async function decideForAuditor(tx: Transaction, request: AuditorRequest): Promise<Auditor | Problem | undefined> {
  const { snapshot, info, principal } = request;
  const resource = snapshot.definitions.get(AUDIT_LOG_NAME) as Resource;
  const { decision, facts } = await decideAction(tx, request, resource);
  const rule = decidingRule(decision);
  if (rule === undefined) return undefined;
  const moment = { dialect: tx.dialect, now: tx.now, timeZone: request.timeZone, definitions: snapshot.definitions };
  const where = decision.effect === 'allow-where' ? exactFilter(decision.where, resource, moment) : undefined;
  const isFiltered = decision.effect !== 'allow-where' || where !== undefined;
  const described: Auditor['decision'] = {
    now: tx.now,
    kind: 'access',
    allowed: decision.effect !== 'deny' && isFiltered,
    resource: AUDIT_LOG_NAME,
    action: request.action,
    reason: isFiltered ? decision.reason : `the database cannot evaluate the conditions of ${rule.label}`,
    ruleId: rule.id,
    policyId: rule.policy.id,
    epoch: snapshot.revision.number,
    facts,
  };
  if (described.allowed) return { where, decision: described };
  const entry = toAdminEntry(info, principal, described);
  await appendEntry(tx, entry);
  return new Problem('ACCESS_DENIED', described.reason, { decisionId: entry.id });
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
async function decideAction(tx: Transaction, request: AuditorRequest, resource: Resource): Promise<AuditorDecision> {
  const { principal, snapshot, action, timeZone } = request;
  const { origin } = request.info;
  const { definitions } = snapshot;
  const { now } = tx;
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const applicable = applicableRules(snapshot.policies, { assignments, role: principal.role, resource: resource.name, action, now });
  tx.addToReadSet({ validUntil: applicable.validUntil });
  const referenced = await loadReferenced(tx, definitions, { paths: applicable.referencePaths, principal, resource, record: UNRESOLVED });
  const scope = createScope({ principal, action, resource, record: UNRESOLVED, origin, now, timeZone, definitions, referenced });
  const decision = decide(applicable, scope, { userId: principal.id, role: principal.role });
  return { decision, facts: factsOf(readsToExplain(applicable, decision), scope, FACTS_BYTES) };
}
