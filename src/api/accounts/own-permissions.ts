/** Evaluates the permissions of a caller, for pages that show which actions are denied, and why. */
import { CREATES_RECORD, RULE_ACTIONS, type RuleAction } from '../../actions.ts';
import { type AuditEntry, createEntryId, EVALUATION } from '../../audit/index.ts';
import { type Decision, decidingRule } from '../../authz/decision/index.ts';
import { AUDIT_ACTIONS, AUDIT_LOG_NAME } from '../../authz/policies/index.ts';
import type { Issue } from '../../errors.ts';
import { toRecordId } from '../../ids.ts';
import type { JsonObject } from '../../operators/index.ts';
import { appendEvaluation, createRequestContext, type UnitOfWork } from '../../pipeline/index.ts';
import { loadRecords } from '../../storage/index.ts';
import { decideForCaller, refuseQuestion } from '../access/index.ts';
import type { OwnAuditRight } from '../admission/index.ts';
import { decideAuditAction } from './own-resources.ts';

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
  const { permissions, ...evaluated } =
    question.resource === AUDIT_LOG_NAME ? await evaluateAuditLog(unit, question) : await evaluateRecords(unit, question);
  const entry = toEntry(unit, question.resource, evaluated);
  if (isAudited) appendEvaluation(unit, entry);
  return { permissions, decisionId: entry.id };
}

interface EvaluatedQuestion {
  readonly actions: readonly RuleAction[];
  readonly ids?: readonly string[] | undefined;
}

interface Evaluation extends EvaluatedQuestion {
  readonly permissions: readonly OwnPermission[];
}

async function evaluateRecords(unit: UnitOfWork, question: OwnQuestion): Promise<Evaluation> {
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
  const ids = question.ids === undefined ? undefined : [...new Set(question.ids.map(toRecordId))];
  const records = ids === undefined ? new Map() : await loadRecords(tx, resource, ids);
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const environment = { now: undefined, ip: caller.origin.ip };
  const permissions: OwnPermission[] = [];
  for (const action of actions) {
    const context = { tx, snapshot, deps: options };
    const decisions = await decideForCaller(context, { resource, action, environment, principal, assignments, ids, records });
    for (const [index, decision] of decisions.entries()) permissions.push(toPermission(toRight(decision), action, ids?.[index]));
  }
  return { permissions, actions, ids };
}

const AUDIT_LOG_ACTIONS: ReadonlySet<RuleAction> = new Set(AUDIT_ACTIONS);

/** Evaluates a question about the audit log. The decisions are those of the admin endpoints that show it. */
async function evaluateAuditLog(unit: UnitOfWork, { ids, actions = AUDIT_ACTIONS }: OwnQuestion): Promise<Evaluation> {
  const detail = `expected ${AUDIT_ACTIONS.join(' or ')}: the audit log has no other action`;
  const issues: readonly Issue[] = [
    ...(ids === undefined
      ? []
      : [{ path: 'ids', code: 'conflict', detail: `expected no ids beside the resource ${AUDIT_LOG_NAME}` } as const]),
    ...actions.flatMap((action, index) =>
      AUDIT_LOG_ACTIONS.has(action) ? [] : [{ path: `actions.${index}`, code: 'conflict', detail } as const],
    ),
  ];
  refuseQuestion(issues);
  const asked = AUDIT_ACTIONS.filter((action) => actions.includes(action));
  const permissions: OwnPermission[] = [];
  for (const action of asked) permissions.push(toPermission(await decideAuditAction(unit, action), action));
  return { permissions, actions: asked };
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

/** Returns a decision in the form of those about the audit log. */
function toRight(decision: Decision): OwnAuditRight {
  const rule = decidingRule(decision);
  const effect = decision.effect === 'allow-where' ? 'conditional' : decision.effect;
  return { effect, reason: decision.reason, ...(rule !== undefined && { rule }) };
}

/** Returns a decision as its caller may see it. Only a denial names its rule, as the response to a denied request does. */
function toPermission({ effect, reason, rule }: OwnAuditRight, action: RuleAction, id?: string): OwnPermission {
  const subject = { ...(id !== undefined && { id }), action };
  if (effect !== 'deny') return { ...subject, effect, reason: REASONS[effect] };
  const named = rule && { rule: rule.description ?? rule.id, policy: rule.policy.name };
  return { ...subject, effect, reason, ...named };
}

function toEntry(
  { tx, snapshot, principal, caller, options }: UnitOfWork,
  resource: string,
  { actions, ids }: EvaluatedQuestion,
): AuditEntry {
  return {
    id: createEntryId(),
    at: new Date(tx.now).toISOString(),
    kind: 'evaluation',
    userId: principal.id,
    role: principal.role,
    resource,
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
