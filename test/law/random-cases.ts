/** Checks the law on random cases, and that the cases are varied enough to prove something. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { OPERATORS } from '../../src/operators/index.ts';
import type { Transaction } from '../../src/storage/index.ts';
import { isDeep } from '../budget.ts';
import type { RelatedResult } from '../reference/reference-facts.ts';
import { checkLaw, type LawCase, type Outcome, UNLIMITED } from './check.ts';
import type { LawFixture } from './law-fixture.ts';
import { lawSets } from './policies.ts';

/**
 * Counts of the cases checked so far. A case is a list of all records by one caller with one set of policies, in one order: its pages and its total are
 * compared with the decision on each record by itself, and with the reference decider on each record. Lists of callers without a rule are
 * checked, but not counted.
 */
export interface Tally {
  cases: number;
  /** Records that were decided in these cases. */
  records: number;
  /** Cases in which no record was listed, and in which all were: an answer that does not depend on the record. */
  none: number;
  all: number;
  /** Cases in which some but not all records were listed. */
  mixed: number;
  /** Mixed cases that SQL decided completely. */
  mixedInSql: number;
  /** Mixed cases that were partly evaluated in memory. */
  mixedInMemory: number;
  /** Mixed cases that were read from alternatives of their condition. */
  mixedByAlternatives: number;
  /** Mixed cases that were also listed with comparisons instead of conditions on related records. */
  mixedReplaced: number;
  /** Mixed cases with a path through a list of references. */
  mixedThroughLists: number;
  /** Mixed cases whose records were decided one by one. */
  mixedApart: number;
  /** By result of a condition on related records: number of cases in which it occurred for a record. */
  readonly related: Record<RelatedResult, number>;
  /** By operator or other feature of rules: number of mixed cases with a rule that uses it and applies or is inactive. */
  readonly covered: Map<string, number>;
}

const FEATURES: readonly string[] = [
  ...[...OPERATORS.keys()].map((name) => `"operator":"${name}"`),
  ...['"anyOf":', '"allOf":', '"not":', '"ifExists":true', '"expression":', '"effect":"DENY"', '"resource":"*"', '"isActive":false'],
  ...['"operator":"within"', '"field":"resource.upId","operator":"within"', '"field":"resource.id","operator":"within"'],
  ...['"field":"t.upId","operator":"within"', '"field":"user.managerId","operator":"within"'],
  ...['"related":', '"atLeast":', '"atMost":', '"as":"inner"'],
  ...[
    '"field":"resource.friendIds.',
    '"field":"resource.partIds.',
    '"field":"user.mentorIds.',
    '"${resource.friendIds.',
    '"${user.mentorIds.',
  ],
  ...['"field":"user.', '"field":"resource.ownerId.', '"field":"resource.parentId.', '"${user.', '"${resource.', '["${'],
];

/** Creates a tally with all counts at zero. */
export function createTally(): Tally {
  return {
    ...{ cases: 0, records: 0, none: 0, all: 0 },
    mixed: 0,
    mixedInSql: 0,
    mixedInMemory: 0,
    mixedByAlternatives: 0,
    mixedReplaced: 0,
    mixedThroughLists: 0,
    mixedApart: 0,
    related: { true: 0, false: 0, unknown: 0, aboveAtMost: 0, belowAtLeast: 0, aboveLimit: 0 },
    covered: new Map(FEATURES.map((feature) => [feature, 0])),
  };
}

/** The number of random cases, and the seed of their generator; a new one by default. */
interface RandomCases {
  readonly count: number;
  readonly seed?: number;
}

/** Sets that are checked at the same time, because PostgreSQL then evaluates one while this process evaluates another one. */
const LANES = 2;

/** Checks at least `count` random cases: all callers of the last set of policies count. A failure is shrunk and reported with its seed. */
export async function checkRandomCases(
  fixture: LawFixture,
  { count, seed = Date.now() % 2 ** 31 }: RandomCases,
  tally: Tally,
): Promise<void> {
  const property = fc.asyncProperty(lawSets(fixture.definitions), async ({ cases, isTogether }) => {
    const checkEach = async (tx?: Transaction): Promise<readonly CheckedCase[]> => {
      const checked: CheckedCase[] = [];
      for (const each of cases) checked.push({ ...each, ...(await checkLaw(fixture, each, tx)), of: fixture.records.length, isTogether });
      return checked;
    };
    for (const checked of await (isTogether ? fixture.database.transaction(checkEach, UNLIMITED) : checkEach())) note(tally, checked);
  });
  const until = tally.cases + count;
  for (let run = 0; tally.cases < until; run++) {
    // Three of four callers have a rule, on average.
    const numRuns = Math.ceil((until - tally.cases) / 3 / LANES);
    const seeds = Array.from({ length: LANES }, (_, lane) => seed + (run * LANES + lane) * 1_000_000);
    await Promise.all(seeds.map((each) => fc.assert(property, { numRuns, seed: each })));
  }
}

/** Cases among which some are expected with each operator. */
const MANY = 10_000;

/** Expects enough mixed cases. `npm run test:deep` has enough of them to expect some with each operator. */
export function expectVariety({ cases, covered, related, ...counts }: Tally): void {
  const { mixed, mixedInSql, mixedInMemory, mixedByAlternatives, mixedReplaced, mixedThroughLists, mixedApart } = counts;
  expect(mixed).toBeGreaterThan(cases / 8);
  expect(mixedInSql).toBeGreaterThan(cases / 20);
  // The callers of one set of policies have similar cases, so these numbers vary widely among few cases.
  expect(mixedInMemory).toBeGreaterThan(cases / 50);
  expect(mixedThroughLists).toBeGreaterThan(cases / 20);
  if (!isDeep || cases < MANY) return;
  expect(mixedInMemory).toBeGreaterThan(cases / 20);
  expect(mixedByAlternatives).toBeGreaterThan(cases / 200);
  expect(mixedReplaced).toBeGreaterThan(cases / 200);
  expect(mixedApart).toBeGreaterThan(cases / 250);
  const rare = [...covered, ...Object.entries(related)].filter(([, times]) => times < cases / 400);
  expect(rare).toEqual([]);
}

/** A case, and what was found out about it. */
interface CheckedCase extends LawCase, Outcome {
  /** The number of records. */
  readonly of: number;
  /** False if the records were decided one by one. */
  readonly isTogether: boolean;
}

function note(tally: Tally, { state, listed, total, isReplaced, hasAlternatives, applying, related, of, isTogether }: CheckedCase): void {
  if (applying.size === 0) return;
  tally.cases++;
  tally.records += of;
  for (const result of related) tally.related[result]++;
  if (listed.length === 0) tally.none++;
  else if (listed.length === of) tally.all++;
  if (listed.length === 0 || listed.length === of) return;
  tally.mixed++;
  if (!isTogether) tally.mixedApart++;
  if (total === undefined) tally.mixedInMemory++;
  else tally.mixedInSql++;
  if (hasAlternatives) tally.mixedByAlternatives++;
  if (isReplaced) tally.mixedReplaced++;
  const rules = state.policies.flatMap((policy) => policy.rules).filter(({ id, isActive }) => applying.has(id) || !isActive);
  const text = JSON.stringify(rules);
  if (/\.(friendIds|partIds|mentorIds)\./.test(text)) tally.mixedThroughLists++;
  for (const [feature, times] of tally.covered) if (text.includes(feature)) tally.covered.set(feature, times + 1);
}
