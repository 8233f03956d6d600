import type { Snapshot } from '../authz/index.ts';
import {
  createPolicyIndex,
  FINDINGS,
  type Finding,
  type FindingCode,
  type LintContext,
  lintAssignment,
  lintPolicy,
  sortFindings,
  usersToCompare,
} from '../authz/linter/index.ts';
import type { Policy, RolePolicy, UserPolicy } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { countUserValues, isExactInSql, loadActiveAssignments, loadPolicy, loadPolicyPage } from '../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, type UndescribedEndpoint, undescribed } from './admin-endpoint.ts';
import { parseCountQuery, parseIdCursor, parseTextQuery, toIdCursor } from './admin-parsing.ts';

/** The endpoint that lists findings of the policy linter. */
export const findingEndpoints: readonly AdminEndpoint[] = (
  [
    { method: 'GET', path: '/policies-advice', query: ['policyId', 'code', 'limit', 'cursor'], handle: list },
  ] as readonly UndescribedEndpoint[]
).map(undescribed);

/** Number of policies that a page covers: the default and the maximum of `limit`. */
const PAGE = { default: 100, max: 1000 };
/** Number of policies that are loaded at once. */
const LOADED = 50;
/** Milliseconds after which a page ends early, because other requests wait during the search. */
const SEARCH_TIME = 200;
/** Number of findings after which a page ends. */
const PAGE_ITEMS = 1000;
/** Maximum number of findings in the response to a change. */
const WARNINGS = 100;
/** Maximum number of users whose attributes are counted. */
const USERS = 10_000;
/** Maximum number of user assignments that are loaded for one policy, ordered by expiry. */
const ASSIGNMENTS = 1000;

async function list(admin: AdminRequest): Promise<HttpResponse> {
  const policyId = parseTextQuery(admin.request, 'policyId');
  const code = parseTextQuery(admin.request, 'code', [...FINDINGS.keys()]) as FindingCode | undefined;
  const limit = parseCountQuery(admin.request, 'limit', PAGE.max) ?? PAGE.default;
  const cursor = parseTextQuery(admin.request, 'cursor');
  const lint = await createLinter(admin, admin.snapshot);
  const { findings, next } =
    policyId === undefined
      ? await lintPage(admin, { lint, limit, after: cursor === undefined ? undefined : parseIdCursor('policy', cursor) })
      : { findings: await lint(await requirePolicy(admin, policyId), { isSingle: true }) };
  const selected = findings.filter((finding) => code === undefined || finding.code === code);
  const extras = { count: selected.length, ...(next !== undefined && { nextCursor: toIdCursor('policy', next) }) };
  return { status: 200, body: toSuccess(selected, extras) };
}

/** Returns the findings about a policy that was just written, as `warnings` of the response. */
export async function policyWarnings(
  admin: AdminRequest,
  policy: Policy,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<object> {
  // Reads the policies after the change, so that the findings consider the change.
  const lint = await createLinter(admin, await admin.deps.policyStore.snapshotAfterChange(admin.tx));
  const findings = await lint(policy, { isSingle: true });
  // A new policy cannot have assignments yet.
  return toWarnings(findings.filter(({ code }) => !(isNew && code === 'unassigned')));
}

/** Returns the findings about an assignment that was just written. */
export function assignmentWarnings({ snapshot, tx }: AdminRequest, policy: Policy, assignment: UserPolicy | RolePolicy): object {
  return toWarnings(lintAssignment(policy, assignment, { definitions: snapshot.definitions, now: tx.now }));
}

function toWarnings(findings: readonly Finding[]): object {
  if (findings.length === 0) return {};
  return { warnings: sortFindings(findings).slice(0, WARNINGS), ...(findings.length > WARNINGS && { warningsTruncated: true }) };
}

type Linter = (policy: Policy, options?: Pick<LintContext, 'isSingle'>) => Promise<readonly Finding[]>;

async function createLinter(
  { tx, deps }: AdminRequest,
  { policies, assignments: userAssignments, definitions, user }: Snapshot,
): Promise<Linter> {
  const moment = { dialect: tx.dialect, now: tx.now, timeZone: deps.timeZone, definitions };
  const context: Omit<LintContext, 'assignments' | 'assignmentsOf'> = {
    index: createPolicyIndex(policies, tx.now),
    users: await countUserValues(tx, user, { limit: USERS }),
    canCompileToSql: (condition, resource) => isExactInSql(condition, resource, moment),
  };
  return async (policy, options = {}) => {
    const assignments = await loadActiveAssignments(tx, policy.id, { limit: ASSIGNMENTS });
    const assignmentsOf = await userAssignments.ofEach(tx, usersToCompare(policy, assignments, tx.now) ?? []);
    return lintPolicy(policy, { ...context, ...options, assignments, assignmentsOf });
  };
}

interface FindingPage {
  readonly lint: Linter;
  readonly limit: number;
  /** The page begins after the policy with this id. */
  readonly after: string | undefined;
}

/** Lints policies in the order of their ids until the page is full or its time is over. `next` is the id of the last policy on the page. */
async function lintPage(
  { tx }: AdminRequest,
  { lint, limit, after }: FindingPage,
): Promise<{ findings: readonly Finding[]; next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const findings: Finding[] = [];
  let last = after;
  for (let left = limit; ; ) {
    const policies = await loadPolicyPage(tx, { after: last, limit: LOADED });
    for (const policy of policies) {
      if (last !== undefined && (left === 0 || findings.length >= PAGE_ITEMS || performance.now() > end)) return { findings, next: last };
      findings.push(...(await lint(policy)));
      last = policy.id;
      left--;
    }
    if (policies.length < LOADED) return { findings };
  }
}

async function requirePolicy({ tx }: AdminRequest, id: string): Promise<Policy> {
  const policy = await loadPolicy(tx, id);
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return policy;
}
