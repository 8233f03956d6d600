/**
 * What will be decided, before anyone asks: `decide` itself, with whatever is not known yet left open. Of a request that
 * is the request; of a role also the user. Leaves no entry.
 */
import { ACTIONS, type RuleAction } from '../actions.ts';
import { INACTIVE_USER } from '../authn/index.ts';
import { createScope, leaveOpen, type Principal, type ScopeInput } from '../authz/context/index.ts';
import { type Decision, decide, decidingRule, printResidual } from '../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, NO_ASSIGNMENTS, type UserAssignment } from '../authz/policies/index.ts';
import { type Path, UNRESOLVED } from '../conditions/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { isDeletionField, type Resource, type StoredRecord } from '../resources/index.ts';
import { loadReferenced } from '../storage/index.ts';
import type { AskedEnvironment } from './access-parsing.ts';
import type { AdminCall } from './admin-endpoint.ts';

/** What is asked about. */
export interface AheadQuestion {
  readonly resource: Resource;
  readonly action: RuleAction;
  /** UNRESOLVED is any record. */
  readonly record: StoredRecord | typeof UNRESOLVED;
  readonly environment: AskedEnvironment;
}

/** A decision with the rules that it was made by. */
export interface Foreseen {
  readonly decision: Decision;
  readonly applicable: ApplicableRules;
}

/** A decision as answers show it. */
export interface ShownDecision {
  readonly effect: 'allow' | 'deny' | 'conditional';
  /** The rule that decides; where it is conditional, the first that may allow. */
  readonly rule?: { readonly id: string; readonly description?: string | undefined };
  readonly policy?: { readonly id: string; readonly name: string };
  /** What it depends on. */
  readonly when?: string;
}

/** A stored user, and what they are assigned. */
export interface KnownUser {
  readonly user: StoredRecord;
  readonly grants: readonly UserAssignment[];
}

/** The decision on every request of a user who is not active: the token is refused before any policy is read. */
export const DENIED_INACTIVE: Decision = Object.freeze({ effect: 'deny', reason: INACTIVE_USER });

/** Decides for a stored user, as the user is now. One who is not active is denied, as every request of theirs is. */
export async function decideForUser(admin: AdminCall, question: AheadQuestion, { user, grants }: KnownUser): Promise<Foreseen> {
  const foreseen = await decideAhead(admin, question, { principal: toPrincipal(user), grants, isKnown: true });
  return user['isActive'] === true ? foreseen : { ...foreseen, decision: DENIED_INACTIVE };
}

/** Decides for whoever has a role: id and attributes of the user stay open. */
export function decideForRole(admin: AdminCall, question: AheadQuestion, role: string): Promise<Foreseen> {
  return decideAhead(admin, question, { principal: { role, attributes: {} }, grants: NO_ASSIGNMENTS, isKnown: false });
}

/** Shows a decision. It may show attribute values: for admins alone. */
export function showDecision(decision: Decision): ShownDecision {
  const rule = decidingRule(decision);
  return {
    effect: decision.effect === 'allow-where' ? 'conditional' : decision.effect,
    ...(rule !== undefined && {
      rule: { id: rule.id, description: rule.description },
      policy: { id: rule.policy.id, name: rule.policy.name },
    }),
    ...(decision.effect === 'allow-where' && { when: printResidual(decision.where) }),
  };
}

/** Who a user is, without the other fields. */
export function showUser(user: StoredRecord): { readonly [member: string]: Json | undefined } {
  return { id: user.id, name: user['name'], email: user['email'], role: user['role'] };
}

/** A stored user as conditions see whoever makes a request. A record is loaded without its secret fields. */
export function toPrincipal(user: StoredRecord): Principal {
  return { id: user.id, role: String(user['role']), attributes: user };
}

interface Whom {
  readonly principal: Principal;
  readonly grants: readonly UserAssignment[];
  /** Whether it is one user, and not whoever has the role. */
  readonly isKnown: boolean;
}

async function decideAhead(admin: AdminCall, question: AheadQuestion, whom: Whom): Promise<Foreseen> {
  const { tx, snapshot, parts } = admin;
  const { resource, action, record, environment } = question;
  const { principal, grants } = whom;
  const who = { userId: principal.id, role: principal.role };
  const now = environment.now ?? tx.now;
  const applicable = applicableRules(snapshot.policies, { grants, role: principal.role, resource: resource.name, action, now });
  const scopeParts: ScopeInput = {
    principal,
    action,
    resource,
    record: MAKES_RECORD.has(action) ? automaticValues(principal, now) : record,
    recordId: record === UNRESOLVED ? undefined : record.id,
    referred: await loadReferenced(tx, snapshot.definitions, { paths: applicable.reaches, principal, resource, record }),
    // Read by nobody: what of it is not given is left open.
    origin: { method: '', path: '', ip: environment.ip ?? '' },
    now,
    timeZone: parts.timeZone,
    definitions: snapshot.definitions,
  };
  const scope = leaveOpen(createScope(scopeParts), (path) => isUnknownYet(path, question, whom));
  return { decision: decide(applicable, scope, who), applicable };
}

/** Actions with requests that send data; with any other, `request.data` is missing and not merely unknown. */
const SENDS_DATA: ReadonlySet<RuleAction> = new Set(
  [...ACTIONS.values()].filter(({ takes }) => takes.includes('data')).map(({ decides }) => decides),
);

/** Actions whose record there is not yet. */
export const MAKES_RECORD: ReadonlySet<RuleAction> = new Set(['create', 'import']);

/** What is known of a record before it is made. */
function automaticValues({ id }: Principal, now: number): JsonObject {
  const time = new Date(now).toISOString();
  return { version: 1, createdAt: time, updatedAt: time, ...(id !== undefined && { createdBy: id }) };
}

const AUTOMATIC: ReadonlySet<string> = new Set(['version', 'createdAt', 'updatedAt', 'createdBy']);

/** Whether a field of a record that is still to be made gets its value with the request. Secrets are no condition's to read. */
function isYetToCome(resource: Resource, key: string | undefined, whom: Whom): boolean {
  const field = resource.fields.get(key ?? '');
  if (field === undefined || field.writeOnly || isDeletionField(resource, field.name)) return false;
  return !AUTOMATIC.has(field.name) || (field.name === 'createdBy' && !whom.isKnown);
}

/** Whether a path leads to what only a request will tell. */
function isUnknownYet({ group, keys: [key, ...inner] }: Path, { resource, action, environment }: AheadQuestion, whom: Whom): boolean {
  switch (group) {
    case 'user':
      return !whom.isKnown && key !== 'role';
    case 'environment':
      return key === 'ip' && environment.ip === undefined;
    case 'request':
      // Secrets among the data are no condition's to read: they are missing in every request.
      if (key === 'data') return SENDS_DATA.has(action) && resource.fields.get(inner[0] ?? '')?.writeOnly !== true;
      return key === 'method' || key === 'path' || (key === 'ip' && environment.ip === undefined);
    case 'resource':
      return MAKES_RECORD.has(action) && isYetToCome(resource, key, whom);
  }
}
