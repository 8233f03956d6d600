/**
 * Policy operations of the CLI, for operators with access to the database. An import runs the admin endpoint as an admin, without a
 * token. An export needs no admin.
 */
import { appendEntry, appendSystemEntry, createEntryId, loadHistoryFacts } from '../../audit/index.ts';
import {
  comparePrecedence,
  DEFAULT_PRIORITY,
  type Policy,
  type PolicyInput,
  policiesFromPermissions,
  titleOfRule,
} from '../../authz/policies/index.ts';
import type { Json } from '../../operators/index.ts';
import type { ByteStream, HttpRequest, QueryTree, RequestOrigin } from '../../request/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import {
  applyPermissions,
  assignToRole,
  comparePermissions,
  createPolicy,
  currentRevision,
  listPolicies,
  listRolePolicies,
  loadPoliciesByName,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../../storage/index.ts';
import { type AdminDeps, handleAs } from '../admin/index.ts';
import { exportedPolicies, policyImport } from './policy-transfer-endpoints.ts';

/** A file of policies to import, and the admin who imports it. */
export interface CommandPolicies {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: ByteStream;
  readonly dryRun: boolean;
  /** The reason of the change. */
  readonly reason?: string | undefined;
}

/** Imports policies and returns a summary. @throws Problem as the admin endpoint does */
export async function importPoliciesFromCommand(deps: AdminDeps, command: CommandPolicies): Promise<string> {
  const { as, mediaType, bytes, dryRun, reason } = command;
  const query = new Map(Object.entries({ dryRun: String(dryRun), ...(reason !== undefined && { reason }) }));
  const request = toImportRequest(query, { mediaType, bytes });
  const { body } = await handleAs(deps, policyImport, { request, identify: (tx) => deps.identity.identifyByEmail(tx, as) });
  return (body as unknown as { readonly message: string }).message;
}

/** Exports policies with their roles, one per line, in the format of an import. */
export async function* exportPoliciesFromCommand(
  { database }: Pick<AdminDeps, 'database'>,
  format: 'json' | 'ndjson',
): AsyncGenerator<string> {
  const policies = await database.transaction(exportedPolicies);
  const lines = policies.map((policy) => JSON.stringify(policy));
  yield format === 'ndjson' ? lines.map((line) => `${line}\n`).join('') : `{ "policies": [\n${lines.join(',\n')}\n] }\n`;
}

function toImportRequest(query: QueryTree, { mediaType, bytes }: Pick<CommandPolicies, 'mediaType' | 'bytes'>): HttpRequest {
  return { ...toCommandRequest({}, undefined), query, stream: bytes, header: (name) => (name === 'content-type' ? mediaType : undefined) };
}

/** Returns the request of a command to an admin endpoint. */
export function toCommandRequest(query: Readonly<Record<string, string>>, body: Json | undefined): HttpRequest {
  return {
    method: 'POST',
    params: new Map(),
    query: new Map(Object.entries(query)),
    body,
    header: () => undefined,
    origin: { requestId: createEntryId(), method: '', path: '', ip: '' },
  };
}

/** The result of restoring the policy of full access. */
export interface RestoredAccess {
  readonly message: string;
  /** Descriptions of the DENY rules that are evaluated before the rule of full access. The command reports these rules and does not change them. */
  readonly closing: readonly string[];
}

const RESTORE_COMMAND = 'bailiwick policies restore-admin';
/** Options of the transaction: it reads all policies before it writes, and no request waits for it. */
const UNLIMITED = { longRunning: true };
/** Maximum number of DENY rules that the report names. */
const NAMED = 50;

/**
 * Restores the policy of full access as setup created it: active, with its rule, assigned to role admin. The policy is found by its name: if
 * it was renamed, a new policy is created. Appends an audit entry.
 */
export function restoreAdminPolicy({ database }: Pick<AdminDeps, 'database'>): Promise<RestoredAccess> {
  return database.transaction(async (tx) => {
    const policies = await listPolicies(tx);
    const stored = policies.find(({ name }) => name === FULL_ACCESS.name);
    const policy =
      stored === undefined
        ? await createPolicy(tx, FULL_ACCESS, { by: RESTORE_COMMAND })
        : await updatePolicy(tx, FULL_ACCESS, { id: stored.id, by: RESTORE_COMMAND, overridesFiles: true });
    await assign(tx, policy.id);
    const [action, done] = stored === undefined ? ['create', 'created'] : ['update', 'restored'];
    const reason = `${done} policy "${policy.name}" and assigned it to role admin`;
    const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
    appendSystemEntry(tx, { resource: 'Policy', action, recordId: policy.id, reason, epoch, facts, by: RESTORE_COMMAND });
    const message = `policy "${policy.name}" was ${done} and is assigned to role admin`;
    return { message, closing: await findClosing(tx, policies, policy) };
  }, UNLIMITED);
}

async function assign(tx: Transaction, policyId: string): Promise<void> {
  const pair = { policyId, role: 'admin' } as const;
  const given = { isActive: true, priority: DEFAULT_PRIORITY, by: RESTORE_COMMAND, overridesFiles: true } as const;
  const isAssigned = (await listRolePolicies(tx, 'admin')).some(({ policy }) => policy.id === policyId);
  if (isAssigned) await updateAssignment(tx, pair, given);
  else await assignToRole(tx, pair, given);
}

/** Finds the DENY rules of active policies, assigned to role admin or to an admin, that are evaluated before the rule of full access. */
async function findClosing(tx: Transaction, policies: readonly Policy[], full: Policy): Promise<readonly string[]> {
  const ofRole = (await listRolePolicies(tx, 'admin')).filter(({ assignment }) => assignment.isActive);
  const ofAdmins = await tx.all<{ policyId: string }>(sql`
    select distinct a."policyId" as "policyId" from "_UserPolicy" a join "User" u on u."id" = a."userId"
    where u."role" = 'admin' and a."isActive" = true`);
  const priorities = new Map(ofRole.map(({ policy, assignment }) => [policy.id, priorityOf(assignment)]));
  for (const { policyId } of ofAdmins) priorities.set(policyId, Math.max(DEFAULT_PRIORITY, priorities.get(policyId) ?? DEFAULT_PRIORITY));
  const placed = (policy: Policy, rule: Policy['rules'][number]) => ({
    rule: { ...rule, policy },
    assignmentPriority: priorities.get(policy.id) ?? 0,
  });
  const [allow] = full.rules.map((rule) => placed(full, rule));
  return policies
    .filter(({ id, isActive }) => isActive && priorities.has(id))
    .flatMap((policy) => policy.rules.filter(({ isActive, effect }) => isActive && effect === 'DENY').map((rule) => placed(policy, rule)))
    .filter((deny) => allow !== undefined && comparePrecedence(deny, allow) < 0)
    .slice(0, NAMED)
    .map(({ rule }) => `rule "${titleOfRule(rule)}" of policy "${rule.policy.name}" still denies ${rule.action} on ${rule.resource}`);
}

function priorityOf(assignment: object): number {
  return 'priority' in assignment && typeof assignment.priority === 'number' ? assignment.priority : DEFAULT_PRIORITY;
}

/** A policy that is equivalent to a legacy permissions map, with its roles and the state of the policy in the database. */
export interface PermissionPolicy {
  readonly policy: PolicyInput;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}

/** The actor in audit entries, because the CLI has no user. */
const PERMISSIONS_COMMAND = 'policies from-permissions';

/** Returns the policies that are equivalent to the permissions maps. With `apply`, creates and assigns the missing policies. */
export async function createPermissionPolicies(
  tx: Transaction,
  definitions: Definitions,
  { apply }: { readonly apply: boolean },
): Promise<readonly PermissionPolicy[]> {
  const planned = policiesFromPermissions(definitions);
  const compared = apply ? await applyPermissions(tx, planned, { by: PERMISSIONS_COMMAND }) : await comparePermissions(tx, planned);
  const missing = new Set([
    ...compared.missingPolicies.map(({ name }) => name),
    ...compared.missingAssignments.map(({ policy }) => policy),
  ]);
  if (apply) for (const name of missing) await appendCreated(tx, name);
  return planned.policies.map((policy) => ({
    policy,
    roles: planned.assignments.filter((assignment) => assignment.policy === policy.name).map(({ role }) => role),
    state: !missing.has(policy.name) ? 'present' : apply ? 'made' : 'missing',
  }));
}

async function appendCreated(tx: Transaction, name: string): Promise<void> {
  const reason = `created and assigned policy "${name}" from a permissions map`;
  const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
  appendSystemEntry(tx, { resource: 'Policy', action: 'create', reason, epoch, facts, by: PERMISSIONS_COMMAND });
}

/** The policy of full access. Admins can read and edit it like any other; without it, admins are denied too. */
const FULL_ACCESS: PolicyInput = {
  name: 'Administrators: full access',
  description: 'Created with the first admin. Without this policy, admins are denied too.',
  type: 'ROLE_BASED',
  isActive: true,
  priority: 100,
  tags: ['setup'],
  rules: [
    {
      resource: '*',
      action: '*',
      effect: 'ALLOW',
      conditions: [],
      priority: 100,
      description: 'administrators may do everything',
      isActive: true,
    },
  ],
};

/** Grants role `admin` full access, in the transaction of setup, with an audit entry. */
export async function grantFullAccess(tx: Transaction, admin: { readonly id: string }, origin: RequestOrigin): Promise<void> {
  const by = admin.id;
  // Setup opens again only after every admin was deleted from the database by hand. In that case, an existing policy is kept.
  if ((await loadPoliciesByName(tx, [FULL_ACCESS.name])).length > 0) return;
  const policy = await createPolicy(tx, FULL_ACCESS, { by });
  await assignToRole(tx, { policyId: policy.id, role: 'admin' }, { by });
  appendEntry(tx, {
    id: createEntryId(),
    at: new Date(tx.now).toISOString(),
    kind: 'admin',
    userId: by,
    role: 'admin',
    resource: 'Policy',
    action: 'create',
    recordId: policy.id,
    allowed: true,
    reason: `first admin: created policy "${policy.name}" and assigned it to role admin`,
    epoch: await currentRevision(tx),
    facts: await loadHistoryFacts(tx),
    requestId: origin.requestId,
    ip: origin.ip,
  });
}
