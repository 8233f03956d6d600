/**
 * Policies from the shell: the same endpoints, for whoever has the database at hand. An import is made and recorded as an admin, who has no
 * address there and needs no token; to read policies, nobody is named.
 */
import { appendSystemEntry, createEntryId, loadHistoryFacts } from '../audit/index.ts';
import { comparePrecedence, DEFAULT_PRIORITY, type Policy, type PolicyInput, policiesFromPermissions } from '../authz/policies/index.ts';
import type { ByteStream, HttpRequest, QueryTree } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import { sql } from '../sql.ts';
import {
  applyPermissions,
  assignToRole,
  comparePermissions,
  createPolicy,
  currentRevision,
  listPolicies,
  listRolePolicies,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../storage/index.ts';
import { type AdminParts, answerAs } from './admin-endpoint.ts';
import { FULL_ACCESS } from './first-admin.ts';
import { exportedPolicies, policyImport } from './policy-import.ts';

/** A file of policies. */
export interface ShellPolicies {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: ByteStream;
  readonly dryRun: boolean;
}

/** Imports policies; gives a sentence on what became of them. Throws Problems. */
export async function importPoliciesFromShell(parts: AdminParts, { as, mediaType, bytes, dryRun }: ShellPolicies): Promise<string> {
  const call = toCall(new Map([['dryRun', String(dryRun)]]), { mediaType, bytes });
  const { body } = await answerAs(parts, policyImport, { call, identify: (tx) => parts.identity.identifyByEmail(tx, as) });
  return (body as { readonly message: string }).message;
}

/** Policies with their roles, as a file that an import takes: a line for each. */
export async function* exportPoliciesFromShell(
  { database }: Pick<AdminParts, 'database'>,
  format: 'json' | 'ndjson',
): AsyncGenerator<string> {
  const policies = await database.transaction(exportedPolicies);
  const lines = policies.map((policy) => JSON.stringify(policy));
  yield format === 'ndjson' ? lines.map((line) => `${line}\n`).join('') : `{ "policies": [\n${lines.join(',\n')}\n] }\n`;
}

function toCall(query: QueryTree, { mediaType, bytes }: Pick<ShellPolicies, 'mediaType' | 'bytes'>): HttpRequest {
  return {
    method: 'POST',
    params: new Map(),
    query,
    body: undefined,
    stream: bytes,
    header: (name) => (name === 'content-type' ? mediaType : undefined),
    origin: { requestId: createEntryId(), method: '', path: '', ip: '' },
  };
}

/** The policy that lets admins in, restored, and the rules that still stand before it. */
export interface RestoredAccess {
  readonly message: string;
  /** DENY rules that are decided before its rule for admins, a sentence each. They are reported, not changed. */
  readonly closing: readonly string[];
}

const RESTORE_COMMAND = 'bailiwick policies restore-admin';
/** Maximum number of closing rules that the report names. */
const NAMED = 50;

/**
 * Makes the policy that lets admins in what setup made it: its rule, active, assigned to role admin. It is known by its name: a policy that was
 * renamed stays as it is, and a new one is created. Leaves an audit entry.
 */
export function restoreAdminPolicy({ database }: Pick<AdminParts, 'database'>): Promise<RestoredAccess> {
  return database.transaction(async (tx) => {
    const policies = await listPolicies(tx, {});
    const stored = policies.find(({ name }) => name === FULL_ACCESS.name);
    const policy =
      stored === undefined
        ? await createPolicy(tx, FULL_ACCESS, { by: RESTORE_COMMAND })
        : await updatePolicy(tx, FULL_ACCESS, { id: stored.id, by: RESTORE_COMMAND });
    await assign(tx, policy.id);
    const [action, done] = stored === undefined ? ['create', 'created'] : ['update', 'restored'];
    const reason = `${done} policy "${policy.name}" and assigned it to role admin`;
    const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
    await appendSystemEntry(tx, { resource: 'Policy', action, recordId: policy.id, reason, epoch, facts, by: RESTORE_COMMAND });
    const message = `policy "${policy.name}" was ${done} and is assigned to role admin`;
    return { message, closing: await findClosing(tx, policies, policy) };
  });
}

async function assign(tx: Transaction, policyId: string): Promise<void> {
  const pair = { policyId, role: 'admin' } as const;
  const given = { isActive: true, priority: DEFAULT_PRIORITY, by: RESTORE_COMMAND };
  const isAssigned = (await listRolePolicies(tx, 'admin')).some(({ policy }) => policy.id === policyId);
  if (isAssigned) await updateAssignment(tx, pair, given);
  else await assignToRole(tx, pair, given);
}

/** Finds the DENY rules of active policies, assigned to role admin or to an admin, that come before the one rule of full access. */
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
    .map(
      ({ rule }) => `rule "${rule.description ?? rule.id}" of policy "${rule.policy.name}" still denies ${rule.action} on ${rule.resource}`,
    );
}

function priorityOf(assignment: object): number {
  return 'priority' in assignment && typeof assignment.priority === 'number' ? assignment.priority : DEFAULT_PRIORITY;
}

/** One policy that means what a legacy permissions map says of one role, and whether it stands. */
export interface PermissionPolicy {
  readonly policy: PolicyInput;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}

/** Who made them, on the record: nobody's token is at hand on the command line. */
const PERMISSIONS_COMMAND = 'policies from-permissions';

/** The policies that mean the same as the permissions maps; with `apply`, those that are missing are made and assigned. */
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
  if (apply) for (const name of missing) await appendMade(tx, name);
  return planned.policies.map((policy) => ({
    policy,
    roles: planned.assignments.filter((assignment) => assignment.policy === policy.name).map(({ role }) => role),
    state: !missing.has(policy.name) ? 'present' : apply ? 'made' : 'missing',
  }));
}

async function appendMade(tx: Transaction, name: string): Promise<void> {
  const reason = `made and assigned policy "${name}" from a permissions map`;
  const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
  await appendSystemEntry(tx, { resource: 'Policy', action: 'create', reason, epoch, facts, by: PERMISSIONS_COMMAND });
}
