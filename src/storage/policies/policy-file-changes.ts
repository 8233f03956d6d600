/** Stores the policies of files, and finds the orphans: policies in the database that came from files which no longer contain them. */
import type { Policy, PolicyImport, RolePolicy } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import { requireIntact } from '../checksums/damaged-rows.ts';
import type { Transaction } from '../contract.ts';
import { endAssignment, loadRolePolicies } from './assignment-records.ts';
import { withoutManager } from './managed-policies.ts';
import { draftImport, type ImportDraft, type ImportedPolicies, writeImport } from './policy-bulk-import.ts';
import { type Author, endPolicy } from './policy-records.ts';
import { selectPolicyRows, toPolicy } from './policy-rows.ts';
import { POLICY_TABLES, requireIntactRows } from './policy-tables.ts';
import { advanceRevision } from './revision.ts';

/**
 * The treatment of policies and assignments that files managed and no longer contain. `deactivate` keeps the policies without effect, so that they
 * and their assignments to users return with the file. `release` leaves them to the admin API.
 */
export type OrphanAction = 'keep' | 'deactivate' | 'release' | 'delete';

/** A policy that files manage and no longer contain. */
export interface OrphanedPolicy {
  readonly id: string;
  readonly name: string;
  /** The file that contained it. */
  readonly file: string;
}

/** An assignment that the file of its policy no longer lists. */
export interface OrphanedRole {
  readonly policy: string;
  readonly role: string;
}

/** The result of an application of policy files. */
export interface AppliedPolicies extends ImportedPolicies, Pick<ImportDraft, 'assignments'> {
  /** Names of the policies that the admin API managed, and files manage from now on. */
  readonly adopted: readonly string[];
  readonly orphanedPolicies: readonly OrphanedPolicy[];
  readonly orphanedRoles: readonly OrphanedRole[];
}

/** The policies of all files of a project. */
export interface PolicyApplication {
  /** Each with its file. */
  readonly imports: readonly PolicyImport[];
  readonly orphans: OrphanAction;
}

/** Creates, updates and assigns the policies of files, and treats orphans, all in one revision. Throws STORAGE_DAMAGED. */
export async function applyPolicyFiles(
  tx: Transaction,
  { imports, orphans: action }: PolicyApplication,
  author: Author,
): Promise<AppliedPolicies> {
  const draft = await draftImport(tx, imports, author);
  const orphans = await findOrphans(tx, imports);
  const treated = TREATMENTS[action](orphans, new Date(tx.now).toISOString());
  const rows = { policies: [...draft.policies, ...treated.policies], users: draft.users, roles: [...draft.roles, ...treated.roles] };
  const ends = treated.endedPolicies.length + treated.endedRoles.length;
  if (rows.policies.length + rows.roles.length + ends > 0) {
    const change = { ...author, revision: await advanceRevision(tx) };
    await writeImport(tx, rows, change);
    for (const { id } of treated.endedPolicies) await endPolicy(tx, id, change);
    for (const role of treated.endedRoles) await endAssignment(tx, role, change);
  }
  // Orphans that were not active before are not reported: nothing about them changes.
  const policies = orphans.policies.filter(({ isActive }) => isActive || action !== 'deactivate');
  return { ...draft.done, assignments: draft.assignments, adopted: draft.adopted, ...describeOrphans({ ...orphans, policies }) };
}

/** Policies and assignments that files manage and no longer contain. */
interface Orphans {
  readonly policies: readonly Policy[];
  /** The assignments of these policies. */
  readonly rolesOfPolicies: readonly RolePolicy[];
  /** The assignments that the files of other policies no longer list, with the names of their policies. */
  readonly roles: readonly (readonly [policy: string, assignment: RolePolicy])[];
}

async function findOrphans(tx: Transaction, imports: readonly PolicyImport[]): Promise<Orphans> {
  const isManaged = sql`"managedBy" = 'files'`;
  const policies = (await selectPolicyRows(tx, isManaged)).map((stored) => {
    requireIntact(stored);
    return toPolicy(stored);
  });
  await requireIntactRows(tx, POLICY_TABLES.rolePolicy, isManaged);
  const listed = new Map(imports.map(({ policy, roles }) => [policy.name, new Set<string>(roles.map(({ role }) => role))]));
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const roles = (await loadRolePolicies(tx, isManaged)).map(
    (assignment) => [byId.get(assignment.policyId)?.name ?? '', assignment] as const,
  );
  return {
    policies: policies.filter(({ name }) => !listed.has(name)),
    rolesOfPolicies: roles.flatMap(([policy, assignment]) => (listed.has(policy) ? [] : [assignment])),
    roles: roles.filter(([policy, { role }]) => listed.get(policy)?.has(role) === false),
  };
}

/** The rows to write and to delete for orphans. */
interface Treatment extends Pick<ImportDraft, 'policies' | 'roles'> {
  readonly endedPolicies: readonly Policy[];
  readonly endedRoles: readonly RolePolicy[];
}

const NOTHING: Treatment = { policies: [], roles: [], endedPolicies: [], endedRoles: [] };

const TREATMENTS: Readonly<Record<OrphanAction, (orphans: Orphans, updatedAt: string) => Treatment>> = {
  keep: () => NOTHING,
  deactivate: ({ policies, roles }, updatedAt) => ({
    ...NOTHING,
    policies: policies.filter(({ isActive }) => isActive).map((policy) => ({ ...policy, isActive: false, updatedAt })),
    endedRoles: roles.map(([, assignment]) => assignment),
  }),
  release: ({ policies, rolesOfPolicies, roles }, updatedAt) => ({
    ...NOTHING,
    policies: policies.map((policy) => ({ ...withoutManager(policy), updatedAt })),
    roles: [...rolesOfPolicies, ...roles.map(([, assignment]) => assignment)].map((assignment) => ({
      ...assignment,
      managedBy: undefined,
    })),
  }),
  delete: ({ policies, roles }) => ({ ...NOTHING, endedPolicies: policies, endedRoles: roles.map(([, assignment]) => assignment) }),
};

function describeOrphans({ policies, roles }: Orphans): Pick<AppliedPolicies, 'orphanedPolicies' | 'orphanedRoles'> {
  return {
    orphanedPolicies: policies.map(({ id, name, file = '' }) => ({ id, name, file })),
    orphanedRoles: roles.map(([policy, { role }]) => ({ policy, role })),
  };
}
