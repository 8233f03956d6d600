/** Evaluates the permissions of a caller, for pages that show which actions are denied, and why. */
import { RULE_ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId, EVALUATION } from '../../audit/index.ts';
import { type Decision, decidingRule } from '../../authz/decision/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { appendEvaluation, createRequestContext, type UnitOfWork } from '../../pipeline/index.ts';
import type { Resource } from '../../resources/index.ts';
import { loadRecords } from '../../storage/index.ts';
import { CREATES_RECORD, decideForCaller, refuseQuestion } from '../access/index.ts';

/** A question of a caller about their own permissions. */
export interface OwnQuestion {
  readonly resource: string;
  /** The records; absent for any record. */
  readonly ids?: readonly string[];
  /** Default: the actions that fit the question. */
  readonly actions?: readonly RuleAction[];
}

/** The effect of an action of the caller on a record, or on any record. It contains no more than the request and its 403 would show. */
export interface OwnPermission {
  readonly id?: string;
  readonly action: RuleAction;
  readonly effect: 'allow' | 'deny' | 'conditional';
  readonly reason: string;
  /** The rule that denies, by its description or its id. */
  readonly rule?: string;
  /** The name of its policy. */
  readonly policy?: string;
}

/** The permissions, and the id of the audit entry that records the question. */
export interface OwnPermissions {
  readonly permissions: readonly OwnPermission[];
  readonly decisionId: string;
}

/**
 * Evaluates the question of a caller, and appends its audit entry. An id without a record is decided like a record without attributes, as a
 * request for it would be, so that it cannot be told from a record that the caller may not access.
 *
 * @throws Problem RESOURCE_UNKNOWN, REQUEST_MALFORMED
 */
export async function evaluateOwnPermissions(unit: UnitOfWork, question: OwnQuestion, isAudited: boolean): Promise<OwnPermissions> {
  const { tx, snapshot, principal, caller, options } = unit;
  const { resource } = createRequestContext(unit, {
    resource: question.resource,
    action: 'read',
    where: [],
    typed: true,
    sort: [],
    total: false,
  });
  const actions = actionsOf(question);
  const ids = question.ids === undefined ? undefined : [...new Set(question.ids)];
  const records = ids === undefined ? new Map() : await loadRecords(tx, resource, ids);
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const environment = { now: undefined, ip: caller.origin.ip };
  const permissions: OwnPermission[] = [];
  for (const action of actions) {
    const context = { tx, snapshot, deps: options };
    const decisions = await decideForCaller(context, { resource, action, environment, principal, assignments, ids, records });
    for (const [index, decision] of decisions.entries()) permissions.push(toPermission(decision, action, ids?.[index]));
  }
  const entry = toEntry(unit, resource, { actions, ids });
  if (isAudited) await appendEvaluation(unit, entry);
  return { permissions, decisionId: entry.id };
}

/** Returns the actions of a question: those on stored records if it names records, otherwise all. @throws Problem REQUEST_MALFORMED */
function actionsOf({ ids, actions }: OwnQuestion): readonly RuleAction[] {
  const isOpen = ids === undefined;
  refuseQuestion(
    (actions ?? []).flatMap((action, index) =>
      isOpen || !CREATES_RECORD.has(action)
        ? []
        : [
            {
              path: `actions.${index}`,
              code: 'conflict',
              detail: `expected no ids beside the action ${action}, which has no stored record`,
            },
          ],
    ),
  );
  return actions === undefined ? RULE_ACTIONS.filter((action) => isOpen || !CREATES_RECORD.has(action)) : [...new Set(actions)];
}

const REASONS = { allow: 'allowed', conditional: 'depends on the record or on the request' } as const;

/** Returns a decision as its caller may see it. Only a denial names its rule, as the response to a denied request does. */
function toPermission(decision: Decision, action: RuleAction, id: string | undefined): OwnPermission {
  const subject = { ...(id !== undefined && { id }), action };
  if (decision.effect === 'allow') return { ...subject, effect: 'allow', reason: REASONS.allow };
  if (decision.effect === 'allow-where') return { ...subject, effect: 'conditional', reason: REASONS.conditional };
  const rule = decidingRule(decision);
  const named = rule && { rule: rule.description ?? rule.id, policy: rule.policy.name };
  return { ...subject, effect: 'deny', reason: decision.reason, ...named };
}

interface EvaluatedQuestion {
  readonly actions: readonly RuleAction[];
  readonly ids: readonly string[] | undefined;
}

function toEntry(
  { tx, snapshot, principal, caller, options }: UnitOfWork,
  resource: Resource,
  { actions, ids }: EvaluatedQuestion,
): AuditEntry {
  return {
    id: createEntryId(),
    at: new Date(tx.now).toISOString(),
    kind: 'evaluation',
    userId: principal.id,
    role: principal.role,
    resource: resource.name,
    action: EVALUATION,
    recordId: ids?.length === 1 ? ids[0] : undefined,
    allowed: true,
    reason: 'evaluated the permissions of the caller',
    epoch: snapshot.revision.number,
    requestId: caller.origin.requestId,
    ip: caller.origin.ip,
    facts: toFacts({ actions, ...(ids !== undefined && { ids }) }, options.factsBytes),
  };
}

/** Returns the facts of an entry. A question that is too long is not kept. */
function toFacts(question: JsonObject, maxBytes: number): JsonObject {
  return { question: Buffer.byteLength(JSON.stringify(question)) > maxBytes ? { notKept: true } : question };
}
