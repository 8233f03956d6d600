/**
 * Checks the law on many random cases, in rounds with other rows. LAW_CASES is the number of cases: lists of all rows by one caller with one set of
 * policies, as `Tally` counts them. Each round prints its seed and the time; a run with
 * LAW_SEED and LAW_ROUND, the first round, repeats or continues another one.
 */
import { expect, it } from 'vitest';
import { hostileRows } from '../law/data.ts';
import { createLawFixture } from '../law/law-fixture.ts';
import { checkRandomCases, createTally, expectVariety, type Tally } from '../law/random-cases.ts';
import { onPostgres } from '../postgres/test-database.ts';

const CASES = Number(process.env['LAW_CASES'] ?? 100_000);
const SEED = Number(process.env['LAW_SEED'] ?? Date.now() % 2 ** 31);
const FIRST_ROUND = Number(process.env['LAW_ROUND'] ?? 1);
/** Number of cases per set of rows. */
const ROUND = 1000;

it(
  `a list returns exactly the records that single reads allow, in ${CASES} random cases`,
  async () => {
    const fixture = await createLawFixture();
    const tally = createTally();
    try {
      for (let round = FIRST_ROUND; tally.cases < CASES; round++) {
        await fixture.fill(hostileRows(round));
        await checkRandomCases(fixture, { count: Math.min(ROUND, CASES - tally.cases), seed: SEED + round }, tally);
        printProgress(round, tally);
      }
    } finally {
      await fixture.close();
    }
    expect(tally.cases).toBeGreaterThanOrEqual(CASES);
    expectVariety(tally);
  },
  CASES * 10_000,
);

/** Prints directly, because Vitest shows the output of a test only if the test fails. */
function printProgress(round: number, { covered, ...counts }: Tally): void {
  const rarest = [...covered].toSorted(([, a], [, b]) => a - b).slice(0, 8);
  const where = onPostgres ? 'PostgreSQL' : 'SQLite';
  process.stdout.write(
    `${new Date().toISOString()} ${where}: LAW_SEED=${SEED} round ${round}: ${JSON.stringify({ ...counts, rarest: Object.fromEntries(rarest) })}\n`,
  );
}
