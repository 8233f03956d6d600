/** The law, tried on questions at random, and whether trying it told anything. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { OPERATORS } from '../../src/operators/index.ts';
import { checkLaw, type Outcome, type Question } from './check.ts';
import type { World } from './law-fixture.ts';
import { questions } from './policies.ts';

/** What the questions asked came to. */
export interface Tally {
  asked: number;
  /** Neither nothing nor everything was listed. */
  mixed: number;
  /** Mixed, and SQL said all of it. */
  mixedInSql: number;
  /** Mixed, and some of it was evaluated in memory. */
  mixedInMemory: number;
  /** By operator and whatever else rules can say, how many of the mixed questions had it in a rule that applies, or is inactive. */
  readonly said: Map<string, number>;
}

const SAYINGS: readonly string[] = [
  ...[...OPERATORS.keys()].map((name) => `"operator":"${name}"`),
  ...['"anyOf":', '"allOf":', '"not":', '"ifExists":true', '"expression":', '"effect":"DENY"', '"resource":"*"', '"isActive":false'],
  ...['"field":"user.', '"field":"resource.ownerId.', '"field":"resource.parentId.', '"${user.', '"${resource.', '["${'],
];

/** An empty one. */
export function createTally(): Tally {
  return { asked: 0, mixed: 0, mixedInSql: 0, mixedInMemory: 0, said: new Map(SAYINGS.map((saying) => [saying, 0])) };
}

/** Asks `count` questions. What fails is shrunk, and shown with its seed. */
export async function askAtRandom(world: World, count: number, tally: Tally): Promise<void> {
  const property = fc.asyncProperty(questions(world.definitions), async (question) => {
    note(tally, question, { ...(await checkLaw(world, question)), of: world.records.length });
  });
  await fc.assert(property, { numRuns: count });
}

/** Fails where most questions had an answer that any decider would have given, or some operator was hardly asked about. */
export function expectTelling({ asked, mixed, mixedInSql, mixedInMemory, said }: Tally): void {
  expect(mixed).toBeGreaterThan(asked / 8);
  expect(mixedInSql).toBeGreaterThan(asked / 20);
  expect(mixedInMemory).toBeGreaterThan(asked / 20);
  const rare = [...said].filter(([, times]) => times < asked / 400);
  expect(rare).toEqual([]);
}

function note(tally: Tally, { state }: Question, { listed, total, applying, of }: Outcome & { readonly of: number }): void {
  tally.asked++;
  if (listed.length === 0 || listed.length === of) return;
  tally.mixed++;
  if (total === undefined) tally.mixedInMemory++;
  else tally.mixedInSql++;
  const rules = state.policies.flatMap((policy) => policy.rules).filter(({ id, isActive }) => applying.has(id) || !isActive);
  const text = JSON.stringify(rules);
  for (const [saying, times] of tally.said) if (text.includes(saying)) tally.said.set(saying, times + 1);
}
