/** The policies under which past decisions were made, for their explanation and for replays. */
import { ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createReplayFrame, dependsOnTimeZone, loadTimeZones, recordedPaths, scopeFromFacts } from '../../audit/index.ts';
import { type Decision, decidingRule, type Explanation, explain } from '../../authz/decision/index.ts';
import {
  type ApplicableRules,
  applicableRules,
  type CompiledRule,
  compilePolicies,
  type PolicySnapshot,
  toUserAssignments,
  type UserAssignment,
} from '../../authz/policies/index.ts';
import { memoize } from '../../memoize.ts';
import { loadDefinitionsRevision, loadPolicyStateAt, type Transaction } from '../../storage/index.ts';
import type { AdminDeps, AdminRequest } from '../admin/index.ts';

/** The parts of a request that past policies are loaded with. */
export type PastRequest = Pick<AdminRequest, 'tx' | 'snapshot'> & { readonly deps: Pick<AdminDeps, 'limits' | 'timeZone'> };

/** The policies at a past revision, and the assignments of one caller. */
export interface PastPolicies {
  readonly policies: PolicySnapshot;
  readonly assignments: readonly UserAssignment[];
}

/** Loads the policies at the revision of an entry, and the assignments of its caller. Rules are compiled with the present definitions. */
async function loadPastPolicies({ tx, snapshot, deps }: PastRequest, entry: AuditEntry): Promise<PastPolicies> {
  const { userPolicies, ...state } = await loadPolicyStateAt(tx, entry.epoch, entry);
  return { policies: compilePolicies(state, snapshot.definitions, deps.limits), assignments: toUserAssignments(userPolicies) };
}

async function loadPresentPolicies({ tx, snapshot }: PastRequest, { userId }: AuditEntry): Promise<PastPolicies> {
  return { policies: snapshot.policies, assignments: await snapshot.assignments.of(tx, userId) };
}

/** Returns the rules that applied to the decision of an entry. */
function pastRules({ policies, assignments }: PastPolicies, { role, resource, action, at }: AuditEntry): ApplicableRules {
  return applicableRules(policies, { assignments, role, resource, action: action as RuleAction, now: Date.parse(at) });
}

/** The findings about entries of one caller and revision, from the policies of their time. */
export interface PastDecisions {
  /** Returns the paths whose values an entry contains. */
  recordedPaths(entry: AuditEntry): ReadonlySet<string>;
  /** Returns true if an entry was decided by these rules of the present policies. */
  areDecidedBy(entry: AuditEntry, applicable: ApplicableRules): boolean;
  /** Number of policies and assignments in memory. */
  readonly size: number;
}

/** If definitions have changed, the same rules may have been compiled to other conditions, which read other paths. */
const DEFINED_OTHERWISE: PastDecisions = { recordedPaths: () => new Set(), areDecidedBy: () => false, size: 1 };

/** The revisions of the present definitions by transaction: a preview needs its revision for each caller. */
const definitionsRevisions = new WeakMap<Transaction, Promise<number>>();

/** Loads the policies of an entry, for all entries of the same caller and revision. */
export async function loadPastDecisions(request: PastRequest, entry: AuditEntry): Promise<PastDecisions> {
  if (entry.epoch < (await memoize(definitionsRevisions, request.tx, loadDefinitionsRevision))) return DEFINED_OTHERWISE;
  const isPresent = entry.epoch === request.snapshot.revision.number;
  const past = isPresent ? await loadPresentPolicies(request, entry) : await loadPastPolicies(request, entry);
  const { policies: present } = request.snapshot.policies;
  const isUnchanged = ({ id, policy }: CompiledRule, other: CompiledRule | undefined): boolean =>
    other?.id === id && other.policy.id === policy.id && past.policies.policies.get(policy.id)?.version === present.get(policy.id)?.version;
  return {
    // The present policies are in memory anyway.
    size: past.assignments.length + (isPresent ? 1 : 1 + past.policies.policies.size),
    recordedPaths: (each) => recordedPaths(each, pastRules(past, each)),
    areDecidedBy: (each, { rules }) => {
      const then = pastRules(past, each).rules;
      return then.length === rules.length && then.every((rule, index) => isUnchanged(rule, rules[index]));
    },
  };
}

/** An explanation of a past decision, with warnings if it may differ from the decision. */
export interface PastExplanation extends Partial<Omit<Explanation, 'decision'>> {
  readonly warnings?: readonly string[];
}

/** Explains the decision of an entry, recomputed from the stored values and from the policies at the revision of the entry. */
export async function explainPast(request: PastRequest, entry: AuditEntry): Promise<PastExplanation> {
  const { snapshot, deps } = request;
  const resource = snapshot.definitions.get(entry.resource);
  if (resource === undefined || ACTIONS.get(entry.action)?.decides === undefined)
    return { trace: [], warnings: [`resource ${entry.resource} has no definition any more`] };
  const applicable = pastRules(await loadPastPolicies(request, entry), entry);
  const { kindOf } = createReplayFrame(resource, snapshot.definitions);
  const recorded = dependsOnTimeZone(applicable) ? (await loadTimeZones(request.tx, [entry])).get(entry.id) : undefined;
  const frame = { kindOf, definitions: snapshot.definitions, timeZone: recorded ?? deps.timeZone };
  const { decision, ...why } = explain(applicable, scopeFromFacts(entry, frame), { userId: entry.userId, role: entry.role });
  return isSameDecision(decision, entry) ? why : { ...why, warnings: [TRACE_DIFFERS] };
}

/** Returns true if the recomputed decision equals the decision of the entry. They may differ, because conditions are parsed with the current definitions. */
function isSameDecision(decision: Decision, { allowed, ruleId }: AuditEntry): boolean {
  return (decision.effect !== 'deny') === allowed && decidingRule(decision)?.id === ruleId;
}

const TRACE_DIFFERS =
  'the trace differs from the recorded decision, which is correct: definitions have changed, the time zone has changed and was not recorded, or values were too long to be stored';
