/**
 * Partial decisions: decisions in which some values are unknown. In a decision for a user, the request is unknown; in a decision for a role,
 * the user is unknown too. Partial decisions write no audit entry.
 */
import { CREATES_RECORD, type RuleAction, SENDS_DATA } from '../../actions.ts';
import { INACTIVE_USER } from '../../authn/index.ts';
import { createScope, leaveOpen, type Principal, type ReferencedRecords, type ScopeInput } from '../../authz/context/index.ts';
import { type Decision, decide, decidingRule, describeResidual, type ResidualDescription } from '../../authz/decision/index.ts';
import { type ApplicableRules, applicableRules, NO_ASSIGNMENTS, type UserAssignment } from '../../authz/policies/index.ts';
import { type Path, UNRESOLVED } from '../../conditions/index.ts';
import { isDeletionField, type Resource, type StoredRecord } from '../../resources/index.ts';
import {
  createRelatedStore,
  loadDeletedRecord,
  loadRecord,
  loadReferenced,
  loadReferencedOfEach,
  readSetOf,
  refuseDamagedRecord,
} from '../../storage/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import type { HypotheticalEnvironment } from './question-members.ts';

/** The transaction and the policies of partial decisions. */
interface PartialContext extends Pick<AdminRequest, 'tx' | 'snapshot'> {
  readonly deps: Pick<AdminRequest['deps'], 'timeZone'>;
}

/** A request of which some values are unknown. */
export interface PartialRequest {
  readonly resource: Resource;
  readonly action: RuleAction;
  /** The record; UNRESOLVED for any record; undefined for a record that does not exist. */
  readonly record: StoredRecord | typeof UNRESOLVED | undefined;
  /** The id of a record that does not exist. */
  readonly recordId?: string | undefined;
  readonly environment: HypotheticalEnvironment;
}

/** A decision, possibly with a residual condition, and the rules that apply. */
export interface PartialDecision {
  readonly decision: Decision;
  readonly applicable: ApplicableRules;
}

/** A decision in a response. */
export type DecisionSummary = PossibleSummary | ({ readonly effect: 'deny' } & Partial<NamedRule>);

/** A decision that allows, or allows under a condition. */
export interface PossibleSummary extends NamedRule, Partial<ResidualDescription> {
  readonly effect: 'allow' | 'conditional';
}

interface NamedRule {
  /** The deciding rule; for a conditional decision, the first rule that may allow. */
  readonly rule: { readonly id: string; readonly description?: string | undefined };
  readonly policy: { readonly id: string; readonly name: string };
}

/** A stored user with assignments. */
export interface UserWithAssignments {
  readonly user: StoredRecord;
  readonly assignments: readonly UserAssignment[];
}

/** Loads the stored user of a question. @throws Problem STORAGE_DAMAGED for a damaged user, whose own requests are refused in the same way */
export async function loadIntactUser(
  { tx, snapshot }: Pick<AdminRequest, 'tx' | 'snapshot'>,
  id: string,
): Promise<StoredRecord | undefined> {
  await refuseDamagedRecord(tx, snapshot.user, id);
  return loadRecord(tx, snapshot.user, id);
}

/** Loads the record of a question: for a restore, the deleted record, on which it is decided. */
export function loadAskedRecord(
  tx: AdminRequest['tx'],
  resource: Resource,
  { id, isRestore }: { readonly id: string; readonly isRestore: boolean },
): Promise<StoredRecord | undefined> {
  return isRestore ? loadDeletedRecord(tx, resource, id) : loadRecord(tx, resource, id);
}

/** The decision for every request of an inactive user, which is refused before policies are evaluated. */
export const DENIED_INACTIVE: Decision = Object.freeze({ effect: 'deny', reason: INACTIVE_USER });

/** Decides for a stored user. An inactive user is denied. */
export async function decideForUser(
  admin: AdminRequest,
  request: PartialRequest,
  { user, assignments }: UserWithAssignments,
): Promise<PartialDecision> {
  const partial = await decidePartially(admin, request, { principal: toPrincipal(user), assignments, isKnown: true });
  return user['isActive'] === true ? partial : { ...partial, decision: DENIED_INACTIVE };
}

/** Decides for any user with a role: the id and the attributes of the user are unknown. */
export function decideForRole(admin: AdminRequest, request: PartialRequest, role: string): Promise<PartialDecision> {
  return decidePartially(admin, request, { principal: { role, attributes: {} }, assignments: NO_ASSIGNMENTS, isKnown: false });
}

/** Returns a decision as a response shows it. The summary may contain attribute values, so only admins may see it. */
export function toDecisionSummary(decision: Decision): DecisionSummary {
  const rule = decidingRule(decision);
  const named = rule && {
    rule: { id: rule.id, description: rule.description },
    policy: { id: rule.policy.id, name: rule.policy.name },
  };
  if (decision.effect === 'deny') return { effect: 'deny', ...named };
  if (named === undefined) throw new TypeError(`a decision "${decision.effect}" has no ALLOW rule`);
  return decision.effect === 'allow'
    ? { effect: 'allow', ...named }
    : { effect: 'conditional', ...named, ...describeResidual(decision.where) };
}

/** The fields that identify a user. */
export interface UserSummary {
  readonly id: string;
  readonly name?: string;
  readonly email: string;
  readonly role: string;
}

/** Returns the fields that identify a user. */
export function toUserSummary(user: StoredRecord): UserSummary {
  const { id, name, email, role } = user;
  return { id, ...(typeof name === 'string' && { name }), email: String(email), role: String(role) };
}

/** Returns a stored user as principal. The attributes contain no secret fields, because records are loaded without them. */
export function toPrincipal(user: StoredRecord): Principal {
  return { id: user.id, role: String(user['role']), attributes: user };
}

interface PartialPrincipal {
  readonly principal: Principal;
  readonly assignments: readonly UserAssignment[];
  /** True for one user, false for any user with the role. */
  readonly isKnown: boolean;
}

async function decidePartially(admin: PartialContext, request: PartialRequest, subject: PartialPrincipal): Promise<PartialDecision> {
  const { tx, snapshot } = admin;
  const { resource } = request;
  const applicable = rulesFor(admin, request, subject);
  const { principal } = subject;
  const paths = applicable.referencePaths;
  const record = decidedRecord(admin, request, principal);
  const referenced = await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record });
  return { decision: await decideWith(admin, { request, subject, applicable, referenced }), applicable };
}

/** An action of a caller on several records, of which the request is unknown. */
export interface CallerQuestion extends Pick<PartialRequest, 'resource' | 'action' | 'environment'> {
  readonly principal: Principal;
  readonly assignments: readonly UserAssignment[];
  /** The ids of the records; undefined for any record. */
  readonly ids: readonly string[] | undefined;
  /** The stored records among them. The others have no attributes. */
  readonly records: ReadonlyMap<string, StoredRecord>;
}

/**
 * Decides an action of a caller on each record, or on any record. The decisions are those of the requests that the caller could send now, so
 * the commit validates the related and referenced records that they have read.
 */
export async function decideForCaller(context: PartialContext, question: CallerQuestion): Promise<readonly Decision[]> {
  const { tx, snapshot } = context;
  const { resource, principal, assignments, ids, records } = question;
  const subject = { principal, assignments, isKnown: true };
  const applicable = rulesFor(context, question, subject);
  tx.addToReadSet({ validUntil: applicable.validUntil });
  const paths = applicable.referencePaths;
  const onRead = readSetOf(tx);
  const anyRecord = decidedRecord(context, { ...question, record: UNRESOLVED }, principal);
  const ofCaller = await loadReferenced(tx, snapshot.definitions, { paths, principal, resource, record: anyRecord, onRead });
  const stored = (ids ?? []).flatMap((id) => records.get(id) ?? []);
  const referencedOf = await loadReferencedOfEach({ tx, definitions: snapshot.definitions }, { paths, resource, records: stored });
  const decisions: Decision[] = [];
  for (const recordId of ids ?? [undefined]) {
    await tx.checkTime();
    const record = recordId === undefined ? UNRESOLVED : records.get(recordId);
    const referenced = record === undefined || record === UNRESOLVED ? ofCaller : new Map([...ofCaller, ...referencedOf(record, onRead)]);
    decisions.push(
      await decideWith(context, { request: { ...question, record, recordId }, subject, applicable, referenced, isValidated: true }),
    );
  }
  return decisions;
}

function rulesFor(
  { tx, snapshot }: PartialContext,
  { resource, action, environment }: Pick<PartialRequest, 'resource' | 'action' | 'environment'>,
  { principal: { role }, assignments }: PartialPrincipal,
): ApplicableRules {
  const now = environment.now ?? tx.now;
  return applicableRules(snapshot.policies, { assignments, role, resource: resource.name, action, now });
}

interface DecisionInput {
  readonly request: PartialRequest;
  readonly subject: PartialPrincipal;
  readonly applicable: ApplicableRules;
  readonly referenced: ReferencedRecords;
  /** True if the commit validates the related records that the decision has read. */
  readonly isValidated?: boolean;
}

async function decideWith(
  context: PartialContext,
  { request, subject, applicable, referenced, isValidated = false }: DecisionInput,
): Promise<Decision> {
  const { tx, snapshot, deps } = context;
  const { resource, action, record, environment } = request;
  const { principal } = subject;
  const now = environment.now ?? tx.now;
  const related = applicable.countsRelated ? createRelatedStore(tx, snapshot.definitions) : undefined;
  const input: ScopeInput = {
    principal,
    action,
    resource,
    record: decidedRecord(context, request, principal),
    recordId: record === UNRESOLVED ? undefined : (record?.id ?? request.recordId),
    referenced,
    // Values that are not given stay unknown, so conditions never read these defaults.
    origin: { method: '', path: '', ip: environment.ip ?? '' },
    now,
    timeZone: deps.timeZone,
    definitions: snapshot.definitions,
    related,
  };
  const scope = leaveOpen(createScope(input), (path) => isOpen(path, request, subject));
  const run = (): Decision => decide(applicable, scope, { userId: principal.id, role: principal.role });
  if (related === undefined) return run();
  const decision = await related.evaluate(run);
  if (isValidated) related.noteReads();
  return decision;
}

/** Returns the record of the decision: for an action that creates one, the values that the service will set in it. */
function decidedRecord({ tx }: PartialContext, { action, record, environment }: PartialRequest, { id }: Principal): ScopeInput['record'] {
  if (!CREATES_RECORD.has(action)) return record;
  const time = new Date(environment.now ?? tx.now).toISOString();
  return { version: 1, createdAt: time, updatedAt: time, ...(id !== undefined && { createdBy: id }) };
}

const AUTOMATIC: ReadonlySet<string> = new Set(['version', 'createdAt', 'updatedAt', 'createdBy']);

/** Returns true if the request determines the value of a field of a new record. Conditions cannot read secret fields. */
function isSetByRequest(resource: Resource, key: string | undefined, subject: PartialPrincipal): boolean {
  const field = resource.fields.get(key ?? '');
  if (field === undefined || field.writeOnly || isDeletionField(resource, field.name)) return false;
  return !AUTOMATIC.has(field.name) || (field.name === 'createdBy' && !subject.isKnown);
}

/** Returns true if the value of a path is unknown until a request is made. */
function isOpen(
  { group, keys: [key, ...inner] }: Path,
  { resource, action, environment }: PartialRequest,
  subject: PartialPrincipal,
): boolean {
  switch (group) {
    case 'user':
      return !subject.isKnown && key !== 'role';
    case 'environment':
      return key === 'ip' && environment.ip === undefined;
    case 'request':
      // Conditions cannot read secret fields of the data, so secret fields are missing instead of unknown.
      if (key === 'data') return SENDS_DATA.has(action) && resource.fields.get(inner[0] ?? '')?.writeOnly !== true;
      return key === 'method' || key === 'path' || (key === 'ip' && environment.ip === undefined);
    case 'resource':
      return CREATES_RECORD.has(action) && isSetByRequest(resource, key, subject);
    case 'related':
      return false;
  }
}
