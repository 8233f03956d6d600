import type { Snapshot } from '../../authz/index.ts';
import type { UserValueCounts } from '../../authz/linter/index.ts';
import type { Policy } from '../../authz/policies/index.ts';
import { memoize } from '../../memoize.ts';
import { loadPoliciesById, type PolicySummary } from '../../storage/index.ts';
import { countUsers, createPolicyLinter, type LintRequest } from './stored-policy-linter.ts';

/** Milliseconds after which a request counts the findings of no further policy. */
const COUNT_TIME = 10;
/** Milliseconds after which findings are counted again, because they also depend on the time and on the attributes of users. */
const MAX_AGE = 60_000;
/** Maximum number of policies, and of users with an assignment of them, that are loaded at once. */
const CHUNK = { policies: 100, users: 500 };

/** The numbers that were counted for one snapshot. */
interface Counts {
  /** Time of `performance.now()`. */
  readonly since: number;
  readonly byPolicy: Map<string, number>;
  users?: UserValueCounts;
}

/** The members of a summary that the order of counting depends on. */
type Counted = Pick<PolicySummary, 'id' | 'assignments'>;

const countsOf = new WeakMap<Snapshot, Counts>();

/**
 * Counts the findings about policies, as `policies-advice?policyId=…` lists them. Counts about the same snapshot are kept for a minute. A
 * policy is missing in the result if the time was up before it was counted; the next request counts it.
 */
export async function countFindings(admin: LintRequest, summaries: readonly Counted[]): Promise<ReadonlyMap<string, number>> {
  const end = performance.now() + COUNT_TIME;
  const { snapshot } = admin;
  const counts = keptCounts(snapshot);
  const linter = createPolicyLinter(admin, snapshot, async () => {
    counts.users ??= await countUsers(admin, snapshot);
    return counts.users;
  });
  for (const chunk of toChunks(summaries.filter(({ id }) => !counts.byPolicy.has(id)))) {
    const policies = await withRules(admin, chunk);
    const lint = await linter(policies);
    for (const policy of policies) {
      counts.byPolicy.set(policy.id, lint(policy, { isSingle: true }).length);
      if (performance.now() > end) return counts.byPolicy;
    }
  }
  return counts.byPolicy;
}

function keptCounts(snapshot: Snapshot): Counts {
  const now = performance.now();
  const create = (): Counts => ({ since: now, byPolicy: new Map() });
  const kept = memoize(countsOf, snapshot, create);
  if (now - kept.since <= MAX_AGE) return kept;
  countsOf.delete(snapshot);
  return memoize(countsOf, snapshot, create);
}

/** Splits policies into chunks. Policies without users come first, in chunks of their own, because they take the least time. */
function* toChunks(summaries: readonly Counted[]): Generator<readonly Counted[]> {
  let [chunk, users]: [Counted[], number] = [[], 0];
  for (const summary of summaries.toSorted((a, b) => a.assignments.users - b.assignments.users)) {
    const own = summary.assignments.users;
    const isFirstWithUsers = users === 0 && own > 0;
    if (chunk.length > 0 && (isFirstWithUsers || chunk.length === CHUNK.policies || users + own > CHUNK.users)) {
      yield chunk;
      [chunk, users] = [[], 0];
    }
    chunk.push(summary);
    users += own;
  }
  if (chunk.length > 0) yield chunk;
}

/** Returns policies with their rules. The snapshot has the active ones of roles. */
async function withRules({ tx, snapshot }: LintRequest, summaries: readonly Counted[]): Promise<readonly Policy[]> {
  const active = snapshot.policies.policies;
  const others = summaries.filter(({ id }) => active.get(id) === undefined);
  const loaded = await loadPoliciesById(
    tx,
    others.map(({ id }) => id),
  );
  return [...summaries.flatMap(({ id }) => active.get(id) ?? []), ...loaded];
}
