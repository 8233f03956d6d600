import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onPostgres, scaleRuns } from '../postgres/test-database.ts';
import { checkLaw } from './check.ts';
import { hostileRows } from './data.ts';
import { createLawFixture, type LawFixture } from './law-fixture.ts';
import { checkRandomCases, createTally, expectVariety } from './random-cases.ts';
import { REGRESSIONS } from './regressions.ts';

const CASES = scaleRuns(2000);

let fixture: LawFixture;
beforeAll(async () => {
  fixture = await createLawFixture();
});
afterAll(() => fixture.close());

describe('a list returns exactly the records that single reads and the reference decider allow', () => {
  it.each(REGRESSIONS)('$name', async ({ rows, expected, ...lawCase }) => {
    await fixture.fill(rows);
    const { listed } = await checkLaw(fixture, lawCase);
    expect(listed).toEqual(expected.toSorted());
  });

  it('for random policies on hostile rows', async () => {
    await fixture.fill(hostileRows());
    const tally = createTally();
    await checkRandomCases(fixture, CASES, tally);
    if (!onPostgres) expectVariety(tally);
  }, 600_000);
});
