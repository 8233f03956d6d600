import {
  POLICY_TYPES,
  type Policy,
  type PolicyImport,
  type PolicyInput,
  type PolicyType,
  parsePolicy,
  parsePolicyImport,
  TEMPLATES,
} from '../authz/policies/index.ts';
import { type Issue, Problem } from '../errors.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import {
  createPolicy,
  deletePolicy,
  findUnknownUsers,
  type ImportedPolicies,
  importPolicies,
  listPolicies,
  listRoleAssignments,
  loadPolicy,
  loadPolicyToChange,
  type Transaction,
  updatePolicy,
} from '../storage/index.ts';
import {
  type AdminEndpoint,
  type AdminRequest,
  type UndescribedEndpoint,
  undescribed,
  validatePolicyVersion,
  versionHeaders,
} from './admin-endpoint.ts';
import { parseBody, parseBooleanQuery, parseTextQuery, pathParameterOf, wantsLines, withLines } from './admin-parsing.ts';
import { policyWarnings } from './finding-endpoints.ts';

/** Endpoints of policies with their rules, and of policy templates. */
export const policyEndpoints: readonly AdminEndpoint[] = (
  [
    { method: 'GET', path: '/policies', query: ['isActive', 'type'], handle: list },
    { method: 'POST', path: '/policies', handle: create },
    { method: 'GET', path: '/policies/:id', handle: read },
    { method: 'PUT', path: '/policies/:id', handle: update },
    { method: 'DELETE', path: '/policies/:id', handle: remove },
    { method: 'GET', path: '/policies-templates', handle: templates },
  ] as readonly UndescribedEndpoint[]
).map(undescribed);

async function list({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const isActive = parseBooleanQuery(request, 'isActive');
  const type = parseTextQuery(request, 'type', POLICY_TYPES) as PolicyType | undefined;
  const policies = await listPolicies(tx, { isActive, type });
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

async function read({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const policy = await loadPolicy(tx, pathParameterOf(request, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return { status: 200, headers: versionHeaders(policy), body: toSuccess(policy) };
}

async function create(admin: AdminRequest): Promise<HttpResponse> {
  const input = parseInput(admin, undefined);
  const policy = await createPolicy(admin.tx, input, { by: admin.admin.id });
  await admin.audit({ resource: 'Policy', action: 'create', recordId: policy.id, reason: `created policy "${policy.name}"` });
  return {
    status: 201,
    headers: { location: `/admin/api/policies/${policy.id}`, ...versionHeaders(policy) },
    body: toSuccess(policy, { message: `created policy "${policy.name}"`, ...(await policyWarnings(admin, policy, { isNew: true })) }),
  };
}

async function update(admin: AdminRequest): Promise<HttpResponse> {
  const before = await loadToChange(admin);
  const input = parseInput(admin, before);
  const policy = await updatePolicy(admin.tx, input, { id: before.id, by: admin.admin.id });
  await admin.audit({ resource: 'Policy', action: 'update', recordId: policy.id, reason: `updated policy "${policy.name}"` });
  const body = toSuccess(policy, { message: `updated policy "${policy.name}"`, ...(await policyWarnings(admin, policy)) });
  return { status: 200, headers: versionHeaders(policy), body };
}

async function remove(admin: AdminRequest): Promise<HttpResponse> {
  const policy = await loadToChange(admin);
  await deletePolicy(admin.tx, policy.id, { by: admin.admin.id });
  await admin.audit({ resource: 'Policy', action: 'delete', recordId: policy.id, reason: `deleted policy "${policy.name}"` });
  return { status: 200, body: toSuccess(undefined, { message: `deleted policy "${policy.name}", its rules and its assignments` }) };
}

async function templates(): Promise<HttpResponse> {
  return { status: 200, body: toSuccess(TEMPLATES, { count: TEMPLATES.length }) };
}

/** Loads the policy to change and validates its version: absent members keep the values of the version that the caller has read. */
async function loadToChange(admin: AdminRequest): Promise<Policy> {
  const policy = await loadPolicyToChange(admin.tx, pathParameterOf(admin.request, 'id'));
  validatePolicyVersion(admin, 'policy', policy.version);
  return policy;
}

function parseInput({ request, snapshot, deps }: AdminRequest, before: Policy | undefined): PolicyInput {
  const options = { definitions: snapshot.definitions, limits: deps.limits, ...(before === undefined ? {} : { existing: before }) };
  const { policy, issues } = parsePolicy(request.body ?? null, options);
  if (policy === undefined || issues.length > 0) {
    throw new Problem('POLICY_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the policy`, {
      errors: issues,
    });
  }
  return policy;
}

/** The import endpoint. The CLI uses it too. */
const undescribedImport: UndescribedEndpoint = {
  method: 'POST',
  path: '/policies/import',
  query: ['dryRun'],
  importList: 'policies',
  handle: importAll,
};

/** The import endpoint, for the CLI. */
export const policyImport: AdminEndpoint = undescribed(undescribedImport);

/** Endpoints that import policies (all or none, in one transaction and one revision) and export them. */
export const policyImportEndpoints: readonly AdminEndpoint[] = (
  [undescribedImport, { method: 'GET', path: '/policies/export', query: ['format'], handle: exportAll }] as readonly UndescribedEndpoint[]
).map(undescribed);

/** Maximum number of mistakes in a response. */
const MAX_MISTAKES = 1000;

async function importAll(admin: AdminRequest): Promise<HttpResponse> {
  const { request, tx, snapshot, deps, upload } = admin;
  const { body, issues } = parseBody({ ...request, body: upload?.body }, ['policies', 'dryRun']);
  const dryRun = parseBooleanQuery(request, 'dryRun') ?? body['dryRun'] ?? false;
  if (typeof dryRun !== 'boolean') issues.push({ path: 'dryRun', code: 'type', detail: 'expected true or false' });
  const bounds = { definitions: snapshot.definitions, limits: deps.limits, maxItems: deps.importPolicies };
  const read = parsePolicyImport(body['policies'], bounds);
  const mistakes = [...issues, ...read.issues, ...(await validateUsers(admin, read.policies))];
  if (mistakes.length > 0) throw toProblem(withLines(mistakes, 'policies', upload?.lines));
  const done = await (dryRun === true ? simulateImport(admin, read.policies) : importPolicies(tx, read.policies, { by: admin.admin.id }));
  const summary = summarize(done);
  if (dryRun !== true) await admin.audit({ resource: 'Policy', action: 'import', reason: `imported policies: ${summary}` });
  const message = dryRun === true ? `${summary}; a dry run, nothing was stored` : summary;
  return { status: 200, body: toSuccess({ ...done, ...(dryRun === true && { dryRun }) }, { message }) };
}

/** Returns all policies with the roles that they are assigned to, in the format of an import. User assignments are not exported. */
export async function exportedPolicies(tx: Transaction): Promise<readonly object[]> {
  const byPolicy = Map.groupBy(await listRoleAssignments(tx), ({ policyId }) => policyId);
  return (await listPolicies(tx, {})).map((policy) => ({
    ...policy,
    roles: (byPolicy.get(policy.id) ?? []).map(({ role, priority, isActive }) => ({ role, priority, isActive })),
  }));
}

async function exportAll({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const asLines = wantsLines(request);
  const policies = await exportedPolicies(tx);
  if (!asLines) return { status: 200, body: toSuccess({ policies }, { count: policies.length }) };
  return { status: 200, body: undefined, contentType: 'application/x-ndjson', pieces: toLines(policies) };
}

async function* toLines(policies: readonly object[]): AsyncGenerator<string> {
  for (const policy of policies) yield `${JSON.stringify(policy)}\n`;
}

async function validateUsers({ tx }: AdminRequest, policies: readonly PolicyImport[]): Promise<readonly Issue[]> {
  const unknown = await findUnknownUsers(tx, [...new Set(policies.flatMap(({ users }) => users.map(({ userId }) => userId)))]);
  if (unknown.size === 0) return [];
  return policies.flatMap(({ users }, index) =>
    users.flatMap(({ userId }, at) =>
      unknown.has(userId) ? [{ path: `policies.${index}.users.${at}.userId`, code: 'reference', detail: 'no user has this id' }] : [],
    ),
  );
}

class DryRun extends Error {
  readonly done: ImportedPolicies;
  constructor(done: ImportedPolicies) {
    super('dry run');
    this.done = done;
  }
}

/** Imports policies, rolls back the import, and returns the result that the import would have. */
async function simulateImport({ tx, admin }: AdminRequest, policies: readonly PolicyImport[]): Promise<ImportedPolicies> {
  try {
    return await tx.savepoint(async () => {
      throw new DryRun(await importPolicies(tx, policies, { by: admin.id }));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.done;
    throw error;
  }
}

function summarize({ created, updated, unchanged, assigned }: ImportedPolicies): string {
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${assigned} assigned`;
}

function toProblem(mistakes: readonly Issue[]): Problem {
  const { length } = mistakes;
  return new Problem('POLICY_INVALID', `${length} ${length === 1 ? 'mistake' : 'mistakes'} in the policies, none was imported`, {
    errors: mistakes.slice(0, MAX_MISTAKES),
  });
}
