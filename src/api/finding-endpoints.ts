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
import { toSuccess } from '../request/index.ts';
import { countUserValues, isExactInSql, loadActiveAssignments, loadPolicy, loadPolicyPage } from '../storage/index.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { readCountQuery, readIdCursor, readTextQuery, toIdCursor } from './admin-parsing.ts';

/** What to know of policies that are allowed and yet hardly meant. */
export const adviceEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/policies-advice', query: ['policyId', 'code', 'limit', 'cursor'], handle: list },
];

/** Policies that a page looks at. */
const PAGE = { default: 100, max: 1000 };
/** Policies loaded at a time. */
const STRETCH = 50;
/** Milliseconds after which a page ends where it is. Whoever else asks waits meanwhile. */
const SEARCH_TIME = 200;
/** Advice after which a page ends with the policy it is at. */
const PAGE_ITEMS = 1000;
/** Warnings that the answer to a change shows. */
const WARNINGS = 100;
/** Users looked at to say which attributes users have. */
const USERS = 10_000;
/** Assignments to users looked at for one policy, those that expire first. */
const ASSIGNMENTS = 1000;

async function list(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const policyId = readTextQuery(admin.call, 'policyId');
  const code = readTextQuery(admin.call, 'code', [...FINDINGS.keys()]) as FindingCode | undefined;
  const limit = readCountQuery(admin.call, 'limit', PAGE.max) ?? PAGE.default;
  const cursor = readTextQuery(admin.call, 'cursor');
  const advise = await createAdviser(admin, admin.snapshot);
  const { advice, next } =
    policyId === undefined
      ? await adviseOnPage(admin, { advise, limit, after: cursor === undefined ? undefined : readIdCursor('policy', cursor) })
      : { advice: await advise(await existing(admin, policyId), { isSingle: true }) };
  const wanted = advice.filter((one) => code === undefined || one.code === code);
  const extras = { count: wanted.length, ...(next !== undefined && { nextCursor: toIdCursor('policy', next) }) };
  return { status: 200, body: toSuccess(wanted, extras) };
}

/** What an answer says beside a policy that was just written: `warnings`, where there are any. */
export async function warningsOf(admin: AdminCall, policy: Policy, { isNew = false }: { readonly isNew?: boolean } = {}): Promise<object> {
  // As of the epoch that the change began.
  const advise = await createAdviser(admin, await admin.parts.policyStore.snapshotAfterChange(admin.tx));
  const advice = await advise(policy, { isSingle: true });
  // A new policy cannot be assigned before it is there.
  return toWarnings(advice.filter(({ code }) => !(isNew && code === 'unassigned')));
}

/** The same of an assignment. */
export function warningsOfAssignment({ snapshot, tx }: AdminCall, policy: Policy, assignment: UserPolicy | RolePolicy): object {
  return toWarnings(lintAssignment(policy, assignment, { definitions: snapshot.definitions, now: tx.now }));
}

function toWarnings(advice: readonly Finding[]): object {
  if (advice.length === 0) return {};
  return { warnings: sortFindings(advice).slice(0, WARNINGS), ...(advice.length > WARNINGS && { warningsTruncated: true }) };
}

type Adviser = (policy: Policy, how?: Pick<LintContext, 'isSingle'>) => Promise<readonly Finding[]>;

async function createAdviser(
  { tx, parts }: AdminCall,
  { policies, assignments: userAssignments, definitions, user }: Snapshot,
): Promise<Adviser> {
  const moment = { dialect: tx.dialect, now: tx.now, timeZone: parts.timeZone, definitions };
  const around: Omit<LintContext, 'assignments' | 'assignmentsOf'> = {
    index: createPolicyIndex(policies, tx.now),
    users: await countUserValues(tx, user, { limit: USERS }),
    canCompileToSql: (condition, resource) => isExactInSql(condition, resource, moment),
  };
  return async (policy, how = {}) => {
    const assignments = await loadActiveAssignments(tx, policy.id, { limit: ASSIGNMENTS });
    const assignmentsOf = await userAssignments.ofEach(tx, usersToCompare(policy, assignments, tx.now) ?? []);
    return lintPolicy(policy, { ...around, ...how, assignments, assignmentsOf });
  };
}

interface AdvicePage {
  readonly advise: Adviser;
  readonly limit: number;
  /** Id of the policy behind which the page begins. */
  readonly after: string | undefined;
}

/** Policy by policy, in the order of their ids, until the page is full or its time is over; `next` is the last that was looked at. */
async function adviseOnPage(
  { tx }: AdminCall,
  { advise, limit, after }: AdvicePage,
): Promise<{ advice: readonly Finding[]; next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const advice: Finding[] = [];
  let last = after;
  for (let left = limit; ; ) {
    const policies = await loadPolicyPage(tx, { after: last, limit: STRETCH });
    for (const policy of policies) {
      if (last !== undefined && (left === 0 || advice.length >= PAGE_ITEMS || performance.now() > end)) return { advice, next: last };
      advice.push(...(await advise(policy)));
      last = policy.id;
      left--;
    }
    if (policies.length < STRETCH) return { advice };
  }
}

async function existing({ tx }: AdminCall, id: string): Promise<Policy> {
  const policy = await loadPolicy(tx, id);
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return policy;
}
