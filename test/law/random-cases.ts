/** Checks the law on random cases, and that the cases are varied enough to prove something. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { OPERATORS } from '../../src/operators/index.ts';
import { isDeep } from '../budget.ts';
import { checkLaw, type LawCase, type Outcome } from './check.ts';
import type { LawFixture } from './law-fixture.ts';
import { lawCases } from './policies.ts';

/** Counts of the cases checked so far. */
export interface Tally {
  cases: number;
  /** Cases in which some but not all records were listed. */
  mixed: number;
  /** Mixed cases that SQL decided completely. */
  mixedInSql: number;
  /** Mixed cases that were partly evaluated in memory. */
  mixedInMemory: number;
  /** Mixed cases that were also listed with comparisons instead of conditions on related records. */
  mixedReplaced: number;
  /** Mixed cases with a path through a list of references. */
  mixedThroughLists: number;
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
    cases: 0,
    mixed: 0,
    mixedInSql: 0,
    mixedInMemory: 0,
    mixedReplaced: 0,
    mixedThroughLists: 0,
    covered: new Map(FEATURES.map((feature) => [feature, 0])),
  };
}

/** The number of random cases, and the seed of their generator; a new one by default. */
interface RandomCases {
  readonly count: number;
  readonly seed?: number;
}

/** Checks random cases. A failure is shrunk and reported with its seed. */
export async function checkRandomCases(fixture: LawFixture, { count, seed }: RandomCases, tally: Tally): Promise<void> {
  const property = fc.asyncProperty(lawCases(fixture.definitions), async (lawCase) => {
    note(tally, lawCase, { ...(await checkLaw(fixture, lawCase)), of: fixture.records.length });
  });
  await fc.assert(property, { numRuns: count, ...(seed !== undefined && { seed }) });
}

/** Cases among which some are expected with each operator. */
const MANY = 10_000;

/** Expects enough mixed cases. `npm run test:deep` has enough of them to expect some with each operator. */
export function expectVariety({ cases, mixed, mixedInSql, mixedInMemory, mixedReplaced, mixedThroughLists, covered }: Tally): void {
  expect(mixed).toBeGreaterThan(cases / 8);
  expect(mixedInSql).toBeGreaterThan(cases / 20);
  expect(mixedInMemory).toBeGreaterThan(cases / 20);
  expect(mixedReplaced).toBeGreaterThan(cases / 200);
  expect(mixedThroughLists).toBeGreaterThan(cases / 20);
  if (!isDeep || cases < MANY) return;
  const rare = [...covered].filter(([, times]) => times < cases / 400);
  expect(rare).toEqual([]);
}

function note(tally: Tally, { state }: LawCase, { listed, total, isReplaced, applying, of }: Outcome & { readonly of: number }): void {
  tally.cases++;
  if (listed.length === 0 || listed.length === of) return;
  tally.mixed++;
  if (total === undefined) tally.mixedInMemory++;
  else tally.mixedInSql++;
  if (isReplaced) tally.mixedReplaced++;
  const rules = state.policies.flatMap((policy) => policy.rules).filter(({ id, isActive }) => applying.has(id) || !isActive);
  const text = JSON.stringify(rules);
  if (/\.(friendIds|partIds|mentorIds)\./.test(text)) tally.mixedThroughLists++;
  for (const [feature, times] of tally.covered) if (text.includes(feature)) tally.covered.set(feature, times + 1);
}
