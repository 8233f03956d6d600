/** Checks the law on many random cases and changing rows. LAW_QUESTIONS is the number of cases; 100,000 take half an hour. */
import { expect, it } from 'vitest';
import { hostileRows } from '../law/data.ts';
import { createLawFixture } from '../law/law-fixture.ts';
import { checkRandomCases, createTally, expectVariety } from '../law/random-cases.ts';

const CASES = Number(process.env['LAW_QUESTIONS'] ?? 20_000);
/** Number of cases per set of rows. */
const ROUND = 1000;

it(
  `the law holds for ${CASES} lawCases`,
  async () => {
    const fixture = await createLawFixture();
    const tally = createTally();
    try {
      for (let turn = 1; tally.cases < CASES; turn++) {
        await fixture.fill(hostileRows(turn));
        await checkRandomCases(fixture, Math.min(ROUND, CASES - tally.cases), tally);
      }
    } finally {
      await fixture.close();
    }
    expect(tally.cases).toBe(CASES);
    expectVariety(tally);
  },
  CASES * 100,
);
