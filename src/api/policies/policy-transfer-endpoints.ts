import {
  IMPORTED_POLICY,
  type ParsedPolicyImport,
  POLICY_IMPORT,
  type Policy,
  type PolicyImport,
  parsePolicyImportInSteps,
  REASON,
  type RolePolicy,
} from '../../authz/policies/index.ts';
import { type Issue, MAX_ISSUES, Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { described, Input, OneOf, Type } from '../../schemas/index.ts';
import {
  createAnswerSize,
  findPolicyIds,
  findUnknownUsers,
  type ImportedPolicies,
  importPolicies,
  listPolicies,
  listRoleAssignments,
  loadFittingPolicies,
  loadRolePoliciesOf,
  type Transaction,
} from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, loadLaterPage, runDry, wantsLines, withLines } from '../admin/index.ts';
import { COUNT, COUNTED, lineByLine, MESSAGE } from '../schema-members.ts';
import { describeImportedAssignment } from './policy-changes.ts';
import { compareImport, IMPORT_CHANGE, IMPORTED_ASSIGNMENT, MAX_IMPORT_CHANGES } from './policy-differences.ts';
import { EXPORTED_POLICY, POLICY_EXAMPLE } from './policy-responses.ts';

const IMPORTED = Type.Object({
  created: COUNT,
  updated: COUNT,
  unchanged: COUNT,
  assigned: COUNT,
  dryRun: Type.Optional(Type.Unsafe<true>({ const: true, description: 'True if nothing was stored.' })),
  changes: Type.Optional(
    Type.Array(IMPORT_CHANGE, {
      description: `Of a dry run: the policies that the import would create or change. At most ${MAX_IMPORT_CHANGES}.`,
    }),
  ),
  assignments: Type.Optional(
    Type.Array(IMPORTED_ASSIGNMENT, {
      description: `Of a dry run: the assignments that the import would create or change. At most ${MAX_IMPORT_CHANGES}.`,
    }),
  ),
});

const EXPORTED = { ...POLICY_EXAMPLE, roles: [{ role: 'editor', priority: 100, isActive: true }] } as const;

/** The import endpoint: all policies or none, in one transaction and one revision. The CLI uses it too. */
export const policyImport = adminEndpoint({
  method: 'POST',
  path: '/policies/import',
  id: 'policies.import',
  tag: 'Admin policies',
  summary: 'Creates, replaces and assigns policies, identified by name: all or none, in one revision. The response lists every mistake.',
  query: Input({
    dryRun: Type.Optional(Type.Boolean({ description: 'Validate, count and compare, but store nothing. Default: false.' })),
    reason: REASON,
  }),
  importList: 'policies',
  // Its mistakes are reported with their lines.
  validatesBody: 'handler',
  body: described<Json>(POLICY_IMPORT),
  bodyProblem: 'POLICY_INVALID',
  bodyExample: {
    policies: [{ name: 'Readers', type: 'ROLE_BASED', rules: [{ resource: 'Article', action: 'read' }], roles: [{ role: 'viewer' }] }],
  },
  otherBodies: { 'application/json': Type.Array(IMPORTED_POLICY), 'application/x-ndjson': lineByLine(IMPORTED_POLICY) },
  answers: {
    200: {
      description: 'The number of policies and assignments.',
      schema: envelope(IMPORTED, MESSAGE),
      example: toSuccess(
        { created: 1, updated: 0, unchanged: 0, assigned: 1 },
        { message: '1 created, 0 updated, 0 unchanged, 1 assigned' },
      ),
    },
  },
  problems: [409],
  // The policies are parsed beside other requests.
  beginsLong: true,
  async handle(request) {
    const { query, tx, deps, upload, admin, audit } = request;
    const parsed = await parseInSlices(request);
    const mistakes = parsed.issues.length > 0 ? parsed.issues : await validateUsers(tx, parsed.policies);
    if (mistakes.length > 0) throw toImportProblem(withLines(mistakes, 'policies', upload?.lines));
    const reason = query.reason ?? parsed.reason;
    const change = { by: admin.id, reason, milliseconds: deps.milliseconds };
    const work = () => importPolicies(tx, parsed.policies, change);
    if (query.dryRun ?? parsed.dryRun ?? false) {
      const names = parsed.policies.map(({ policy }) => policy.name);
      const { result, changes } = await runDry(tx, () => compareImport(tx, names, work));
      const assignments = result.assignments.slice(0, MAX_IMPORT_CHANGES).map(describeImportedAssignment);
      const data = { ...result, dryRun: true as const, changes: changes.slice(0, MAX_IMPORT_CHANGES), assignments };
      return respond(200, toSuccess(data, { message: `${summarizeImport(result)}; a dry run, nothing was stored` }));
    }
    const { assignments: _, ...done } = await work();
    const summary = summarizeImport(done);
    await audit({ resource: 'Policy', action: 'import', reason: `imported policies: ${summary}`, changeReason: reason });
    return respond(200, toSuccess(done, { message: summary }));
  },
});

/** The policies that a long attempt has parsed. */
interface RetainedImport {
  readonly definitions: Definitions;
  readonly parsed: ParsedPolicyImport;
}

const RETAINED = 'policies.import';

/** Parses the policies, and lets other requests continue after each slice. On SQLite, the attempt that writes uses the policies that the long one has parsed. */
async function parseInSlices({ tx, snapshot, deps, upload }: AdminRequest): Promise<ParsedPolicyImport> {
  const { definitions } = snapshot;
  const retained = tx.retained.get(RETAINED) as RetainedImport | undefined;
  if (retained?.definitions === definitions) return retained.parsed;
  const bounds = { definitions, limits: deps.limits, maxItems: deps.importPolicies };
  const steps = parsePolicyImportInSteps(upload?.body === undefined ? {} : upload.body, bounds);
  for (;;) {
    const step = steps.next();
    if (step.done) {
      tx.retained.set(RETAINED, { definitions, parsed: step.value } satisfies RetainedImport);
      return step.value;
    }
    if (tx.attempt === 'long') await tx.checkTime();
  }
}

const policyExport = adminEndpoint({
  method: 'GET',
  path: '/policies/export',
  id: 'policies.export',
  tag: 'Admin policies',
  summary: 'Exports all policies with the roles that they are assigned to. `data` is a valid body of an import.',
  query: Input({
    format: Type.Optional(
      OneOf(['json', 'ndjson'], {
        description: '`json`, or `ndjson` with one policy per line. Default: by the header Accept, else `json`.',
      }),
    ),
  }),
  answers: {
    200: {
      description: 'The policies.',
      schema: envelope(Type.Object({ policies: Type.Array(EXPORTED_POLICY) }), COUNTED),
      files: { 'application/x-ndjson': lineByLine(EXPORTED_POLICY) },
      example: toSuccess({ policies: [EXPORTED] }, { count: 1 }),
    },
  },
  streams: 'answer',
  async handle(admin) {
    const isLines = wantsLines(admin.headers.accepted ?? [], admin.query.format);
    const first = await loadExportPage(admin.tx);
    const { policies, next } = first;
    if (next === undefined && !isLines) return respond(200, toSuccess({ policies }, { count: policies.length }));
    const contentType = isLines ? 'application/x-ndjson' : 'application/json; charset=utf-8';
    const pages = loadExportPages(admin, first);
    return { status: 200, body: undefined, contentType, pieces: isLines ? toLines(pages) : toBody(pages) };
  },
});

/** Endpoints that import policies and export them. */
export const policyTransferEndpoints: readonly AdminEndpoint[] = [policyImport, policyExport];

/** A policy in the format of an import. */
export interface ExportedPolicy extends Policy {
  readonly roles: readonly Pick<RolePolicy, 'role' | 'priority' | 'isActive'>[];
}

/** Returns all policies with the roles that they are assigned to, in the format of an import. User assignments are not exported. */
export async function exportedPolicies(tx: Transaction): Promise<readonly ExportedPolicy[]> {
  return withRoles(await listPolicies(tx), await listRoleAssignments(tx));
}

function withRoles(policies: readonly Policy[], assignments: readonly RolePolicy[]): readonly ExportedPolicy[] {
  const byPolicy = Map.groupBy(assignments, ({ policyId }) => policyId);
  return policies.map((policy) => ({
    ...policy,
    roles: (byPolicy.get(policy.id) ?? []).map(({ role, priority, isActive }) => ({ role, priority, isActive })),
  }));
}

/** Maximum policies of a page of an export, and bytes in JSON, which limit its memory and the time that other requests wait. */
const PAGE_POLICIES = 100;
const PAGE_BYTES = 1_000_000;

interface ExportPage {
  readonly policies: readonly ExportedPolicy[];
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: string | undefined;
}

async function loadExportPage(tx: Transaction, after?: string): Promise<ExportPage> {
  const page = { limit: PAGE_POLICIES + 1, after: after === undefined ? undefined : { id: after } };
  const ids = await findPolicyIds(tx, page);
  const { policies, isCut } = await loadFittingPolicies(tx, ids.slice(0, PAGE_POLICIES), createAnswerSize(PAGE_BYTES));
  const assignments = await loadRolePoliciesOf(
    tx,
    policies.map(({ id }) => id),
  );
  return { policies: withRoles(policies, assignments), next: isCut || ids.length > PAGE_POLICIES ? policies.at(-1)?.id : undefined };
}

/** Yields the policies of each page. A policy that changes meanwhile is exported as it is when its page is loaded. */
async function* loadExportPages(admin: AdminRequest, first: ExportPage): AsyncGenerator<readonly ExportedPolicy[]> {
  let page = first;
  yield page.policies;
  while (page.next !== undefined) {
    const after = page.next;
    page = await loadLaterPage(admin, (tx) => loadExportPage(tx, after));
    yield page.policies;
  }
}

async function* toLines(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const policies of pages) yield policies.map((policy) => `${JSON.stringify(policy)}\n`).join('');
}

/** Yields the body of a response, which is also the body of an import. */
async function* toBody(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let count = 0;
  yield '{"success":true,"data":{"policies":[';
  for await (const policies of pages) {
    const text = policies.map((policy) => JSON.stringify(policy)).join(',');
    yield count > 0 && text !== '' ? `,${text}` : text;
    count += policies.length;
  }
  yield `]},"count":${count}}`;
}

async function validateUsers(tx: Transaction, policies: readonly PolicyImport[]): Promise<readonly Issue[]> {
  const unknown = await findUnknownUsers(tx, [...new Set(policies.flatMap(({ users }) => users.map(({ userId }) => userId)))]);
  if (unknown.size === 0) return [];
  return policies.flatMap(({ users }, index) =>
    users.flatMap(({ userId }, at) =>
      unknown.has(userId) ? [{ path: `policies.${index}.users.${at}.userId`, code: 'reference', detail: 'no user has this id' }] : [],
    ),
  );
}

/** Returns the counts of an import in words. */
export function summarizeImport({ created, updated, unchanged, assigned }: ImportedPolicies): string {
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${assigned} assigned`;
}

/** Returns the problem of an import with mistakes. */
export function toImportProblem(mistakes: readonly Issue[]): Problem {
  const { length } = mistakes;
  return new Problem('POLICY_INVALID', `${length} ${length === 1 ? 'mistake' : 'mistakes'} in the policies, none was imported`, {
    errors: mistakes.slice(0, MAX_ISSUES),
  });
}
