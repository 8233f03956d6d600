/** Assignments of policies by the CLI, in the name of an admin. They are the requests of the admin endpoints, by email and name in place of ids. */
import type { AssignmentChange, Policy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { findAssignment, isInForce, loadUserByEmail, type RolePair, type Transaction, type UserPair } from '../../storage/index.ts';
import { type AdminDeps, runAsAdmin } from '../admin/index.ts';
import { findPolicyId, requirePolicy } from '../policies/index.ts';
import { ASSIGNMENT_ENDPOINTS } from './assignment-endpoints.ts';

/** The user, by email, or the role that a policy is assigned to. */
export type CommandAssignee = { readonly email: string } | { readonly role: AssignableRole };

/** A removal of an assignment. */
export interface CommandUnassignment {
  /** Email of the admin. */
  readonly as: string;
  /** Name or id of the policy. */
  readonly policy: string;
  readonly to: CommandAssignee;
  readonly reason?: string | undefined;
}

/** An assignment of a policy. */
export interface CommandAssignment extends CommandUnassignment {
  /** For a user: a canonical timestamp, or null for no expiry. If absent, an assignment in force keeps its expiry. */
  readonly expiresAt?: string | null | undefined;
}

/** Assigns a policy, or changes the expiry of an assignment in force. Returns a message. @throws Problem as the admin endpoint does */
export async function assignFromCommand(deps: AdminDeps, command: CommandAssignment): Promise<string> {
  const { expiresAt } = command;
  const target = await deps.database.transaction((tx) => findTarget(deps, tx, command));
  const { policy, pair, isPresent, assignee } = target;
  if (isPresent && expiresAt === undefined) return `policy "${policy.name}" is assigned to ${assignee} already`;
  const change: AssignmentChange = { ...(expiresAt !== undefined && { expiresAt }), ...reasonOf(command) };
  const endpoints = 'userId' in pair ? ASSIGNMENT_ENDPOINTS.user : ASSIGNMENT_ENDPOINTS.role;
  await send(deps, isPresent ? endpoints.update : endpoints.create, { command, target, body: change as JsonObject });
  const until = typeof expiresAt === 'string' ? ` until ${expiresAt}` : '';
  return `policy "${policy.name}" is assigned to ${assignee}${until}`;
}

/** Removes an assignment. Returns a message. @throws Problem as the admin endpoint does */
export async function unassignFromCommand(deps: AdminDeps, command: CommandUnassignment): Promise<string> {
  const target = await deps.database.transaction((tx) => findTarget(deps, tx, command));
  const { policy, pair, version, assignee } = target;
  if (version === undefined) throw new Problem('ASSIGNMENT_UNKNOWN', `policy "${policy.name}" is not assigned to ${assignee}`);
  const endpoints = 'userId' in pair ? ASSIGNMENT_ENDPOINTS.user : ASSIGNMENT_ENDPOINTS.role;
  await send(deps, endpoints.delete, { command, target, query: reasonOf(command) });
  return `policy "${policy.name}" is no longer assigned to ${assignee}`;
}

function reasonOf({ reason }: CommandUnassignment): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

/** A policy with a user or role, and the stored assignment between them. */
interface AssignmentTarget {
  readonly policy: Policy;
  readonly pair: UserPair | RolePair;
  /** Version of the stored assignment; undefined if there is none. */
  readonly version: number | undefined;
  /** True if the stored assignment is in force. */
  readonly isPresent: boolean;
  /** The user or role in messages. */
  readonly assignee: string;
}

async function findTarget(
  { policyStore }: AdminDeps,
  tx: Transaction,
  { policy: nameOrId, to }: CommandUnassignment,
): Promise<AssignmentTarget> {
  const policy = await requirePolicy(tx, await findPolicyId(tx, nameOrId));
  const { user } = await policyStore.snapshot(tx);
  const found = 'email' in to ? await loadUserByEmail(tx, user, { email: to.email, forUpdate: false }) : undefined;
  const pair = 'email' in to ? { policyId: policy.id, userId: found?.id ?? '' } : { policyId: policy.id, role: to.role };
  const stored = await findAssignment<UserPair | RolePair>(tx, pair);
  const isActive = found === undefined || found['isActive'] === true;
  const assignee = 'email' in to ? `${found?.['email']}${isActive ? '' : ', who is not active'}` : `role ${to.role}`;
  return { policy, pair, version: stored?.version, isPresent: stored !== undefined && isInForce(stored, tx.now), assignee };
}

interface CommandCall {
  readonly command: CommandUnassignment;
  readonly target: AssignmentTarget;
  readonly body?: JsonObject;
  readonly query?: Readonly<Record<string, string>>;
}

/** Calls an admin endpoint as the admin of the command. It fails if the assignment has changed since it was found. */
async function send(
  deps: AdminDeps,
  endpoint: (typeof ASSIGNMENT_ENDPOINTS)['user']['create'],
  { command, target: { pair, version }, body, query = {} }: CommandCall,
): Promise<void> {
  await runAsAdmin(deps, endpoint, { as: command.as, params: { ...pair }, version, body, query });
}
