/**
 * Commands of the CLI on policies, for operators with access to the database. An import runs the admin endpoint as an admin, without a
 * token. An export and the restoration of full access need no admin.
 */
import { appendSystemEntry, loadHistoryFacts } from '../../audit/index.ts';
import { comparePrecedence, DEFAULT_PRIORITY, type Policy, titleOfRule } from '../../authz/policies/index.ts';
import type { ByteStream } from '../../request/index.ts';
import {
  assignToRole,
  createPolicy,
  currentRevision,
  listRolePolicies,
  loadPoliciesByName,
  loadPoliciesInForce,
  type PolicyInForce,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../../storage/index.ts';
import { type AdminDeps, parsePolicyImportBody, runAsAdmin } from '../admin/index.ts';
import { describeImport } from './describe-import.ts';
import { FULL_ACCESS } from './full-access.ts';
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

/**
 * Imports policies. Returns lines for the operator: of a dry run the changes, of which the endpoint returns a limited number, and then a summary.
 *
 * @throws Problem as the admin endpoint does
 */
export async function importPoliciesFromCommand(deps: AdminDeps, command: CommandPolicies): Promise<readonly string[]> {
  const { as, mediaType, bytes, dryRun, reason } = command;
  const query = { dryRun, ...(reason !== undefined && { reason }) };
  const upload = await parsePolicyImportBody(deps, 'policies', { mediaType, bytes });
  const { data, message } = await runAsAdmin(deps, policyImport, { as, query, upload });
  const { changes = [], assignments = [], created, updated, assigned } = data;
  const others = dryRun ? created + updated + assigned - changes.length - assignments.length : 0;
  return [
    ...describeImport({ changes, assignments }, dryRun),
    ...(others > 0 ? [`and ${others} other changes of policies and assignments`] : []),
    message,
  ];
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

/** The result of restoring the policy of full access. */
export interface RestoredAccess {
  readonly message: string;
  /** Descriptions of the DENY rules that are evaluated before the rule of full access. The command reports these rules and does not change them. */
  readonly closing: readonly string[];
}

const RESTORE_COMMAND = 'bailiwick policies restore-admin';
/** Options of the transaction: it reads all policies in force for admins after it has written, and no request waits for it. */
const UNLIMITED = { unlimited: true };
/** Maximum number of DENY rules that the report names. */
const NAMED = 50;

/**
 * Restores the policy of full access as setup created it: active, with its rule, assigned to role admin. The policy is found by its name: if
 * it was renamed, a new policy is created. Appends an audit entry.
 */
export function restoreAdminPolicy({ database }: Pick<AdminDeps, 'database'>): Promise<RestoredAccess> {
  return database.transaction(async (tx) => {
    const [stored] = await loadPoliciesByName(tx, [FULL_ACCESS.name]);
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
    return { message, closing: await findClosing(tx, policy) };
  }, UNLIMITED);
}

async function assign(tx: Transaction, policyId: string): Promise<void> {
  const pair = { policyId, role: 'admin' } as const;
  const given = { isActive: true, priority: DEFAULT_PRIORITY, by: RESTORE_COMMAND, overridesFiles: true } as const;
  const isAssigned = (await listRolePolicies(tx, 'admin')).some(({ policy }) => policy.id === policyId);
  if (isAssigned) await updateAssignment(tx, pair, given);
  else await assignToRole(tx, pair, given);
}

/** Finds the DENY rules that are in force for admins and are evaluated before the rule of full access. */
async function findClosing(tx: Transaction, full: Policy): Promise<readonly string[]> {
  const placed = ({ policy, assignmentPriority }: PolicyInForce) =>
    policy.rules.map((rule) => ({ rule: { ...rule, policy }, assignmentPriority }));
  const rules = (await loadPoliciesInForce(tx, 'admin')).flatMap(placed);
  const allow = rules.find(({ rule }) => rule.policyId === full.id);
  return rules
    .filter(({ rule }) => rule.isActive && rule.effect === 'DENY')
    .filter((deny) => allow !== undefined && comparePrecedence(deny, allow) < 0)
    .slice(0, NAMED)
    .map(({ rule }) => `rule "${titleOfRule(rule)}" of policy "${rule.policy.name}" still denies ${rule.action} on ${rule.resource}`);
}
