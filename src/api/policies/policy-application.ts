/**
 * The application of policy files. The CLI applies them as an admin, and `bailiwick dev` without one. Clients of the API cannot: the files are in
 * the project.
 */
import { appendSystemEntry, loadHistoryFacts } from '../../audit/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { type PolicyImport, parsePolicyImport } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { respond } from '../../request/index.ts';
import { described } from '../../schemas/index.ts';
import {
  type AppliedPolicies,
  type Author,
  applyPolicyFiles,
  currentRevision,
  type OrphanAction,
  type Transaction,
} from '../../storage/index.ts';
import { type AdminDeps, adminEndpoint, runAsAdmin, runDry } from '../admin/index.ts';
import { describeImport } from './describe-import.ts';
import { type DescribedAssignment, describeImportedAssignment } from './policy-changes.ts';
import { compareImport, type ImportChange } from './policy-differences.ts';
import { summarizeImport, toImportProblem } from './policy-transfer-endpoints.ts';

/** A policy in the form of an import, with the file that contains it. */
export interface PolicyOfFile {
  readonly file: string;
  readonly policy: JsonObject;
}

/** The policies of all files of a project, and the treatment of those that files no longer contain. */
export interface PolicyFileSet {
  readonly policies: readonly PolicyOfFile[];
  readonly orphans: OrphanAction;
  /** Ids of the policies that may be deleted; undefined if all may. */
  readonly deletable?: readonly string[] | undefined;
}

/** An application of policy files by an admin. */
export interface CommandApplication extends PolicyFileSet {
  /** Email of the admin. */
  readonly as: string;
  readonly dryRun: boolean;
  /** The reason of the change. */
  readonly reason?: string | undefined;
}

/** The result of an application, and the policies that it created or changed. */
export interface PolicyApplicationReport extends Omit<AppliedPolicies, 'assignments'> {
  readonly changes: readonly ImportChange[];
  /** The assignments that it created or changed. */
  readonly assignments: readonly DescribedAssignment[];
  /** The changes and the orphans in words; the last line has the numbers. */
  readonly lines: readonly string[];
}

/** Not a route: only `applyPoliciesFromCommand` calls it. */
const policyApplication = adminEndpoint({
  method: 'POST',
  path: '/policies/apply',
  id: 'policies.apply',
  tag: 'Admin policies',
  summary: 'Applies the policies of files.',
  body: described<Omit<CommandApplication, 'as'>>({ type: 'object' }),
  validatesBody: 'handler',
  answers: { 200: { description: 'The result.', schema: described<PolicyApplicationReport>({ type: 'object' }), example: undefined } },
  async handle({ body, tx, snapshot, deps, admin, audit }) {
    const { reason } = body;
    const report = await apply({ tx, snapshot, deps }, body, { by: admin.id, reason });
    if (!body.dryRun) await audit({ resource: 'Policy', action: 'apply', reason: toAuditReason(report), changeReason: reason });
    return respond(200, report);
  },
});

/** Applies policy files as an admin: all or none, in one revision with one audit entry. @throws Problem POLICY_INVALID with every mistake */
export async function applyPoliciesFromCommand(deps: AdminDeps, application: CommandApplication): Promise<PolicyApplicationReport> {
  const { as, ...body } = application;
  return runAsAdmin(deps, policyApplication, { as, body });
}

const DEV_COMMAND = 'bailiwick dev';

/** Applies policy files in the name of `bailiwick dev`. Appends an audit entry if anything changes. @throws Problem POLICY_INVALID */
export async function applyPoliciesInDevelopment(deps: AdminDeps, files: PolicyFileSet): Promise<PolicyApplicationReport> {
  return deps.database.transaction(async (tx) => {
    const snapshot = await deps.policyStore.snapshot(tx);
    const before = await currentRevision(tx);
    const report = await apply({ tx, snapshot, deps }, { ...files, dryRun: false }, { by: DEV_COMMAND });
    const epoch = await currentRevision(tx);
    if (epoch !== before) {
      const facts = await loadHistoryFacts(tx);
      appendSystemEntry(tx, { resource: 'Policy', action: 'apply', reason: toAuditReason(report), epoch, facts, by: DEV_COMMAND });
    }
    return report;
  });
}

interface ApplicationContext {
  readonly tx: Transaction;
  readonly snapshot: Pick<Snapshot, 'definitions'>;
  readonly deps: Pick<AdminDeps, 'limits' | 'importPolicies'>;
}

async function apply(
  context: ApplicationContext,
  { policies, orphans, deletable, dryRun }: PolicyFileSet & { readonly dryRun: boolean },
  author: Author,
): Promise<PolicyApplicationReport> {
  const { tx } = context;
  const imports = parseFiles(policies, context);
  const names = imports.map(({ policy }) => policy.name);
  const run = () => compareImport(tx, names, () => applyPolicyFiles(tx, { imports, orphans }, author));
  const { result, changes } = await (dryRun ? runDry(tx, run) : run());
  if (orphans === 'delete' && deletable !== undefined) refuseOtherDeletions(result, deletable);
  const report = { ...result, changes, assignments: result.assignments.map(describeImportedAssignment) };
  return { ...report, lines: describeApplication(report, orphans, dryRun) };
}

function parseFiles(policies: readonly PolicyOfFile[], { snapshot, deps }: ApplicationContext): readonly PolicyImport[] {
  const bounds = { definitions: snapshot.definitions, limits: deps.limits, maxItems: deps.importPolicies };
  const parsed = parsePolicyImport({ policies: policies.map(({ policy }) => policy) }, bounds);
  if (parsed.issues.length > 0) throw toImportProblem(parsed.issues);
  return parsed.policies.map((each, index) => ({ ...each, file: policies[index]?.file }));
}

/** Refuses an application that would delete other policies than those that were confirmed, because another one ran in between. */
function refuseOtherDeletions({ orphanedPolicies }: Pick<AppliedPolicies, 'orphanedPolicies'>, deletable: readonly string[]): void {
  const other = orphanedPolicies.find(({ id }) => !deletable.includes(id));
  if (other === undefined) return;
  const detail = `policy "${other.name}" would be deleted as well, since the policies have changed in the meantime; nothing was applied`;
  throw new Problem('RECORD_VERSION', detail, { hint: 'run the command again' });
}

type Described = Omit<PolicyApplicationReport, 'lines'>;

/** Words about a policy and an assignment that files no longer contain. */
interface OrphanWords {
  readonly policy: string;
  readonly role: string;
}

const KEPT: OrphanWords = { policy: 'kept; --prune deletes it, --release leaves it to the API', role: 'kept; --prune removes it' };

const ORPHAN_WORDS: Readonly<Record<OrphanAction, OrphanWords>> = {
  keep: KEPT,
  deactivate: { policy: 'not active any more', role: 'removed' },
  release: { policy: 'no longer managed by files', role: 'no longer managed by files' },
  delete: { policy: 'deleted', role: 'removed' },
};

const PREVIEWED_ORPHAN_WORDS: Readonly<Record<OrphanAction, OrphanWords>> = {
  keep: KEPT,
  deactivate: { policy: 'would no longer be active', role: 'would be removed' },
  release: { policy: 'would no longer be managed by files', role: 'would no longer be managed by files' },
  delete: { policy: 'would be deleted', role: 'would be removed' },
};

function describeApplication(
  { changes, assignments, orphanedPolicies, orphanedRoles, ...counts }: Described,
  action: OrphanAction,
  isPreview: boolean,
): readonly string[] {
  const words = (isPreview ? PREVIEWED_ORPHAN_WORDS : ORPHAN_WORDS)[action];
  const orphans = [...countOf(orphanedPolicies, ['policy', 'policies']), ...countOf(orphanedRoles, ['assignment', 'assignments'])];
  return [
    ...describeImport({ changes, assignments }, isPreview),
    ...orphanedPolicies.map(({ name, file }) => `policy "${name}" is no longer in ${file}: ${words.policy}`),
    ...orphanedRoles.map(
      ({ policy, role }) => `the assignment of policy "${policy}" to role ${role} is no longer in its file: ${words.role}`,
    ),
    [summarizeImport(counts), ...orphans.map((text) => `${text} no longer in files`)].join(', '),
  ];
}

function countOf({ length }: readonly unknown[], [singular, plural]: readonly [string, string]): readonly string[] {
  return length === 0 ? [] : [`${length} ${length === 1 ? singular : plural}`];
}

function toAuditReason({ lines }: PolicyApplicationReport): string {
  return `applied policy files: ${lines.at(-1) ?? ''}`;
}
