/** The members of analytics that are computed only if a request includes them. */
import { type CountedRange, countDenials, countValues, loadSeries } from '../../audit/index.ts';
import type { Snapshot } from '../../authz/index.ts';
import { Problem } from '../../errors.ts';
import { OneOf, Type } from '../../schemas/index.ts';
import { type ActiveRule, findPoliciesOfUsers, loadActiveRules, type Transaction } from '../../storage/index.ts';
import { COUNT, ID, TEXT, TIMESTAMP } from '../schema-members.ts';

const INCLUDED = ['series', 'topDenied', 'neverMatched'] as const;
const TOP_DENIED = 10;
const MAX_RULES = 1000;
/** Rules that one statement loads. */
const RULES = 2000;

const PARTIAL = {
  partial: Type.Optional(
    Type.Unsafe<true>({
      const: true,
      description: 'Counting took too long, so that older entries were not counted. Choose a shorter timeframe.',
    }),
  ),
  completeFrom: Type.Optional({ ...TIMESTAMP, description: 'If so, the time after which every entry was counted.' }),
} as const;

/** The schemas of these members. */
export const ANALYTICS_DETAILS = {
  series: Type.Optional(
    Type.Object(
      {
        step: OneOf(['hour', 'day']),
        buckets: Type.Array(Type.Object({ at: TIMESTAMP, grants: COUNT, denials: COUNT })),
      },
      { description: 'With `include=series`: decisions per hour, or per day if the timeframe is longer than 7 days.' },
    ),
  ),
  topDenied: Type.Optional(
    Type.Object(
      { denied: Type.Array(Type.Object({ resource: TEXT, action: TEXT, role: TEXT, count: COUNT })), ...PARTIAL },
      { description: 'With `include=topDenied`: the ten combinations of resource, action and role with most entries of denials.' },
    ),
  ),
  neverMatched: Type.Optional(
    Type.Object(
      {
        rules: Type.Array(
          Type.Object({ ruleId: ID, policyId: ID, policy: TEXT, resource: TEXT, action: TEXT, description: Type.Optional(TEXT) }),
        ),
        total: { ...COUNT, description: `Number of these rules; at most ${MAX_RULES} are listed.` },
        ...PARTIAL,
      },
      { description: 'With `include=neverMatched`: active rules of active, assigned policies that decided no request in the timeframe.' },
    ),
  ),
} as const;

/** The members to include. */
export type AnalyticsDetail = (typeof INCLUDED)[number];

/** Parses a list of members to include, separated by commas. @throws Problem REQUEST_PARAMETER */
export function parseIncluded(text: string | undefined): readonly AnalyticsDetail[] {
  const names = text === undefined ? [] : text.split(',');
  const known = names.flatMap((name) => INCLUDED.filter((each) => each === name));
  if (known.length === names.length) return known;
  throw new Problem('REQUEST_PARAMETER', `include: expected names of ${INCLUDED.join(', ')}, separated by commas`, {
    errors: [{ path: 'include', code: 'enum', detail: `expected ${INCLUDED.join(', ')}` }],
  });
}

/** The time range of analytics, and the members to include. */
export interface DetailsQuery {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly included: readonly AnalyticsDetail[];
}

/** Loads the members to include. */
export async function loadDetails(tx: Transaction, snapshot: Snapshot, { from, included }: DetailsQuery) {
  return {
    ...(included.includes('series') && { series: await loadSeries(tx, { from }) }),
    ...(included.includes('topDenied') && { topDenied: await loadTopDenied(tx, from) }),
    ...(included.includes('neverMatched') && { neverMatched: await findNeverMatched(tx, snapshot, from) }),
  };
}

async function loadTopDenied(tx: Transaction, from: number) {
  const { denied, ...range } = await countDenials(tx, { from, top: TOP_DENIED });
  return { denied, ...toPartial(range) };
}

/** Finds the active rules of active, assigned policies that no entry since `from` names. */
async function findNeverMatched(tx: Transaction, { policies: { rolesByPolicy } }: Snapshot, from: number) {
  const { facets, ...range } = await countValues(tx, { kind: 'access', from }, { fields: ['ruleId'], top: Number.POSITIVE_INFINITY });
  const matched = new Set((facets.ruleId ?? []).map(({ value }) => value));
  const assigned = await findPoliciesOfUsers(tx);
  let [found, total]: [ActiveRule[], number] = [[], 0];
  for (let after = ''; ; ) {
    const page = await loadActiveRules(tx, { after, limit: RULES });
    for (const rule of page) {
      const { id, policyId } = rule;
      if (matched.has(id) || (!assigned.has(policyId) && (rolesByPolicy.get(policyId)?.length ?? 0) === 0)) continue;
      total++;
      found.push(rule);
    }
    // Most rules of many policies are not returned.
    if (found.length > MAX_RULES) found = found.sort(byPolicyName).slice(0, MAX_RULES);
    after = page.at(-1)?.id ?? '';
    if (page.length < RULES) return { rules: found.sort(byPolicyName).map(toUnmatched), total, ...toPartial(range) };
  }
}

function byPolicyName(a: ActiveRule, b: ActiveRule): number {
  return a.policy === b.policy ? a.position - b.position : a.policy < b.policy ? -1 : 1;
}

function toUnmatched({ policy, id: ruleId, policyId, resource, action, description }: ActiveRule) {
  return { ruleId, policyId, policy, resource, action, ...(description !== null && { description }) };
}

function toPartial({ isPartial, completeFrom }: CountedRange) {
  return { ...(isPartial && { partial: true as const }), ...(completeFrom !== undefined && { completeFrom }) };
}
