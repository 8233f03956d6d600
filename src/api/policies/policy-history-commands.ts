/** The history and the rollback of policies for the CLI. */
import { diffPolicies, type Policy, type PolicyDifference } from '../../authz/policies/index.ts';
import { didYouMean, Problem } from '../../errors.ts';
import {
  listPolicyNames,
  loadPoliciesByName,
  loadPolicy,
  loadPolicyChanges,
  loadPolicyVersion,
  loadUndamagedRecords,
  type StoredChange,
  type Transaction,
} from '../../storage/index.ts';
import { type AdminDeps, runAsAdmin } from '../admin/index.ts';
import { type DescribedChange, describeChange } from './policy-changes.ts';
import { loadHistoryNames, requireVersion } from './policy-history-endpoints.ts';
import { policyRollback } from './policy-rollback-endpoint.ts';

/** The changes to load, newest first. */
export interface HistoryQuery {
  /** Name or id of a policy; all policies if undefined. */
  readonly policy: string | undefined;
  readonly limit: number;
}

/** A change, with all differences from the version before. */
export interface ComparedChange extends Omit<DescribedChange, 'id'> {
  readonly differences: readonly PolicyDifference[];
}

/** Loads changes of policies and assignments. @throws Problem POLICY_UNKNOWN */
export async function loadHistory(tx: Transaction, { policy, limit }: HistoryQuery): Promise<readonly ComparedChange[]> {
  const policyId = policy === undefined ? undefined : await findPolicyId(tx, policy);
  const found = await loadPolicyChanges(tx, { policyId, limit }, (change) => ({
    ...describeChange(change),
    differences: differencesOf(change),
  }));
  const toNamed = await loadHistoryNames(tx, found);
  return found.map(({ differences, ...change }) => {
    const { id: _, ...named } = toNamed(change);
    return { ...named, differences };
  });
}

function differencesOf({ kind, before, value }: StoredChange): readonly PolicyDifference[] {
  if (kind !== 'policy' || before === undefined || value === undefined) return [];
  return diffPolicies(before as Policy, value as Policy);
}

/** Maximum number of policies with whose names a mistyped name is compared. */
const COMPARED = 10_000;

/** Returns the id of the policy with a name, or the id itself if a policy has or had it. @throws Problem POLICY_UNKNOWN */
export async function findPolicyId(tx: Transaction, nameOrId: string): Promise<string> {
  const [named] = await loadPoliciesByName(tx, [nameOrId]);
  if (named !== undefined) return named.id;
  if ((await loadPolicyVersion(tx, nameOrId)) !== undefined) return nameOrId;
  const near = didYouMean(nameOrId, await listPolicyNames(tx, { limit: COMPARED }));
  throw new Problem('POLICY_UNKNOWN', `no policy has the name or id ${JSON.stringify(nameOrId.slice(0, 200))}${near}`, {
    hint: 'name a deleted policy by its id, which the history of all policies has',
  });
}

/** A rollback of a policy by an admin. */
export interface CommandRollback {
  /** Email of the admin. */
  readonly as: string;
  /** Name or id of the policy. */
  readonly policy: string;
  readonly revision: number;
  readonly reason: string;
  /** True to restore the assignments as well. */
  readonly assignments: boolean;
  readonly dryRun: boolean;
}

/**
 * An assignment that a rollback restored, revoked or skipped. Not the static type of the endpoint's schema, because the declarations of the
 * package import no other package.
 */
export interface ReportedAssignment {
  readonly outcome: 'restored' | 'revoked' | 'skipped';
  readonly userId?: string;
  readonly role?: string;
  readonly email?: string;
}

/** A rollback, or the preview of one. */
export interface RollbackReport {
  readonly name: string;
  /** The differences from the present version to the restored one. */
  readonly differences: readonly PolicyDifference[];
  /** The assignments that were restored, revoked or skipped, with the emails of users who still exist. */
  readonly assignments: readonly ReportedAssignment[];
  /** The file that manages the policy: then nothing was changed. */
  readonly file: string | undefined;
  /** A sentence about what was done; undefined if a file manages the policy. */
  readonly message: string | undefined;
}

/** Rolls a policy back, unless a file manages it. A dry run is validated as a rollback is. @throws Problem as the admin endpoint does */
export async function rollBackFromCommand(deps: AdminDeps, command: CommandRollback): Promise<RollbackReport> {
  const { as, revision, reason, assignments, dryRun } = command;
  const found = await deps.database.transaction((tx) => compareWithPast(deps, tx, command));
  const { id, version, name, differences, file } = found;
  if (file !== undefined) return { name, differences, assignments: [], file, message: undefined };
  // The admin has seen the differences from this version.
  const rollback = { as, version, params: { id }, body: { revision, reason, assignments, dryRun } };
  const done = await runAsAdmin(deps, policyRollback, rollback);
  const named = await deps.database.transaction((tx) => withEmails(deps, tx, done.assignments));
  return { name, differences, assignments: named, file, message: done.message };
}

async function withEmails(
  { policyStore }: AdminDeps,
  tx: Transaction,
  assignments: readonly ReportedAssignment[],
): Promise<readonly ReportedAssignment[]> {
  const userIds = assignments.flatMap(({ userId }) => userId ?? []);
  const users = await loadUndamagedRecords(tx, (await policyStore.snapshot(tx)).user, userIds);
  return assignments.map((assignment) => {
    const email = assignment.userId === undefined ? undefined : users.get(assignment.userId)?.['email'];
    return { ...assignment, ...(typeof email === 'string' && { email }) };
  });
}

interface ComparedPast extends Omit<RollbackReport, 'message' | 'assignments'> {
  readonly id: string;
  /** The present version; of a deleted policy, the revision that deleted it. */
  readonly version: number;
}

async function compareWithPast(deps: AdminDeps, tx: Transaction, { policy, revision }: CommandRollback): Promise<ComparedPast> {
  const id = await findPolicyId(tx, policy);
  const past = (await requireVersion({ tx, snapshot: await deps.policyStore.snapshot(tx) }, { id, revision })).policy;
  const present = await loadPolicy(tx, id);
  const version = present?.version ?? (await loadPolicyVersion(tx, id))?.revision ?? 0;
  // Files manage the present policy or none: a rollback does not restore the manager.
  const { managedBy: _, file: __, ...restored } = past;
  const { managedBy: ___, file, ...before } = present ?? { ...past, tags: [], rules: [], managedBy: undefined, file: undefined };
  return { id, version, name: past.name, differences: diffPolicies(before, restored), file: present === undefined ? undefined : file };
}
