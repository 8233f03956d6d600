import { type PolicyImport, parsePolicyImport } from '../authz/policies/index.ts';
import { type Issue, Problem } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
import {
  findUnknownUsers,
  type ImportedPolicies,
  importPolicies,
  listPolicies,
  listRoleAssignments,
  type Transaction,
} from '../storage/index.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { readBody, readBooleanQuery } from './admin-parsing.ts';
import { wantsLines, withLines } from './policy-import-body.ts';

/** The import, for the shell too. */
export const policyImport: Endpoint = { method: 'POST', path: '/policies/import', query: ['dryRun'], takes: 'policies', handle: importAll };

/** Many policies at once: all of a list or none of it, in one transaction and one epoch; and the list that there is. */
export const policyImportEndpoints: readonly Endpoint[] = [
  policyImport,
  { method: 'GET', path: '/policies/export', query: ['format'], handle: exportAll },
];

/** Mistakes that an answer lists: nobody reads more. */
const LISTED = 1000;

async function importAll(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const { call, tx, snapshot, parts, sent } = admin;
  const { body, issues } = readBody({ ...call, body: sent?.body }, ['policies', 'dryRun']);
  const dryRun = readBooleanQuery(call, 'dryRun') ?? body['dryRun'] ?? false;
  if (typeof dryRun !== 'boolean') issues.push({ path: 'dryRun', code: 'type', detail: 'expected true or false' });
  const bounds = { definitions: snapshot.definitions, limits: parts.limits, maxItems: parts.importPolicies };
  const read = parsePolicyImport(body['policies'], bounds);
  const mistakes = [...issues, ...read.issues, ...(await checkUsers(admin, read.policies))];
  if (mistakes.length > 0) throw toProblem(withLines(mistakes, 'policies', sent?.lines));
  const done = await (dryRun === true ? tryImport(admin, read.policies) : importPolicies(tx, read.policies, { by: admin.admin.id }));
  const told = tell(done);
  if (dryRun !== true) await admin.record({ resource: 'Policy', action: 'import', reason: `imported policies: ${told}` });
  const message = dryRun === true ? `${told}; a dry run, nothing was stored` : told;
  return { status: 200, body: toSuccess({ ...done, ...(dryRun === true && { dryRun }) }, { message }) };
}

/** Every policy with the roles that it is assigned to, as an import takes them. To which users is theirs to say who asks for that. */
export async function exportedPolicies(tx: Transaction): Promise<readonly object[]> {
  const byPolicy = Map.groupBy(await listRoleAssignments(tx), ({ policyId }) => policyId);
  return (await listPolicies(tx, {})).map((policy) => ({
    ...policy,
    roles: (byPolicy.get(policy.id) ?? []).map(({ role, priority, isActive }) => ({ role, priority, isActive })),
  }));
}

async function exportAll({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const asLines = wantsLines(call);
  const policies = await exportedPolicies(tx);
  if (!asLines) return { status: 200, body: toSuccess({ policies }, { count: policies.length }) };
  return { status: 200, body: undefined, contentType: 'application/x-ndjson', pieces: toLines(policies) };
}

async function* toLines(policies: readonly object[]): AsyncGenerator<string> {
  for (const policy of policies) yield `${JSON.stringify(policy)}\n`;
}

async function checkUsers({ tx }: AdminCall, policies: readonly PolicyImport[]): Promise<readonly Issue[]> {
  const unknown = await findUnknownUsers(tx, [...new Set(policies.flatMap(({ users }) => users.map(({ userId }) => userId)))]);
  if (unknown.size === 0) return [];
  return policies.flatMap(({ users }, index) =>
    users.flatMap(({ userId }, at) =>
      unknown.has(userId) ? [{ path: `policies.${index}.users.${at}.userId`, code: 'reference', detail: 'no user has this id' }] : [],
    ),
  );
}

class Undo extends Error {
  readonly done: ImportedPolicies;
  constructor(done: ImportedPolicies) {
    super('a dry run');
    this.done = done;
  }
}

/** What would become of them: done, and undone again. */
async function tryImport({ tx, admin }: AdminCall, policies: readonly PolicyImport[]): Promise<ImportedPolicies> {
  try {
    return await tx.savepoint(async () => {
      throw new Undo(await importPolicies(tx, policies, { by: admin.id }));
    });
  } catch (error) {
    if (error instanceof Undo) return error.done;
    throw error;
  }
}

function tell({ created, updated, unchanged, assigned }: ImportedPolicies): string {
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${assigned} assigned`;
}

function toProblem(mistakes: readonly Issue[]): Problem {
  const { length } = mistakes;
  return new Problem('POLICY_INVALID', `${length} ${length === 1 ? 'mistake' : 'mistakes'} in the policies, none was imported`, {
    errors: mistakes.slice(0, LISTED),
  });
}
