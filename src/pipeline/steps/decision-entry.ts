/** The input of one decision, and its audit entry. */
import { type AuditEntry, factsOf, readsToExplain } from '../../audit/index.ts';
import type { ScopeInput } from '../../authz/context/index.ts';
import { type Decision, decidingRule } from '../../authz/decision/index.ts';
import type { ApplicableRules } from '../../authz/policies/index.ts';
import { type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { isObject, toInstantText } from '../../operators/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { type ChangedRecord, type RelatedStore, toChangedRecord } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';

/** The values of a scope that differ between the decisions of a request. */
export type ScopeValues = Pick<ScopeInput, 'action' | 'resource' | 'record' | 'recordId' | 'referenced' | 'related' | 'data'>;

/** The loaded input of one decision: the rules that apply, and the values that their conditions read. */
export interface DecisionInput extends ScopeValues {
  readonly applicable: ApplicableRules;
  readonly related?: RelatedStore | undefined;
  readonly dataIsOpen?: boolean;
  /** True if the record is the one that an update would store. */
  readonly isChangedRecord?: boolean;
  /** The decision, if it was made to find out which related records it reads. */
  readonly made?: MadeDecision | undefined;
}

/** A decision and the scope of its conditions. */
export interface MadeDecision {
  readonly decision: Decision;
  readonly scope: Scope;
  /** Milliseconds that it took. */
  readonly milliseconds: number;
}

/** A decision and the id of its audit entry. */
interface Decided extends Pick<AuditEntry, 'id'>, Omit<MadeDecision, 'milliseconds'> {}

/** Returns the record that is decided if it is the one that an update would store. */
export function changedIn({ resource, record, isChangedRecord }: DecisionInput): ChangedRecord | undefined {
  if (isChangedRecord !== true || record === UNRESOLVED || record === undefined) return undefined;
  return toChangedRecord(resource, record as StoredRecord);
}

/** Returns the values with which the decision can be explained later, and what an update or a dry run would have changed. */
function keptFacts(context: RequestContext, input: DecisionInput, { decision, scope }: Decided): AuditEntry['facts'] {
  const kept = {
    maxBytes: context.options.factsBytes,
    related: input.related?.facts({ resource: input.resource.name, id: input.recordId }),
  };
  const values = factsOf(readsToExplain(input.applicable, decision), scope, kept);
  const fields = input.action === 'update' ? givenFields(context, input) : [];
  const { dryRun } = context.request;
  // An allowed update was decided on both records, and its entry has the values of the changed one. The decision on `import` is made on the changed record only.
  const changedRecord = input.isChangedRecord === true && input.action === 'update' && decision.effect === 'deny';
  if (fields.length === 0 && dryRun !== true && !changedRecord) return values;
  return { ...values, ...(fields.length > 0 && { fields }), ...(dryRun && { dryRun }), ...(changedRecord && { changedRecord }) };
}

/** Creates the audit entry of a decision. */
export function toDecisionEntry(context: RequestContext, input: DecisionInput, decided: Decided): AuditEntry {
  const { resource, action, recordId } = input;
  const { id, decision } = decided;
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
    facts: keptFacts(context, input, decided),
  };
}

/** Returns the names of the fields that an update gives values for. Omits unknown names, because clients could fill the audit log with them. */
function givenFields(
  { request, resource: requested }: RequestContext,
  { resource, data = request.data }: DecisionInput,
): readonly string[] {
  // A deletion updates referencing records of other resources; its data are not theirs.
  if (resource !== requested || !isObject(data)) return [];
  return Object.keys(data).filter((name) => resource.fields.has(name));
}
