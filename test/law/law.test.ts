import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseCasesOf } from '../budget.ts';
import { onPostgres } from '../postgres/test-database.ts';
import { checkLaw } from './check.ts';
import { hostileRows } from './data.ts';
import { createLawFixture, type LawFixture } from './law-fixture.ts';
import { LIST_REGRESSIONS } from './list-regressions.ts';
import { checkRandomCases, createTally, expectVariety } from './random-cases.ts';
import { REGRESSIONS } from './regressions.ts';

const CASES = databaseCasesOf(200, { postgres: 15 });

let fixture: LawFixture;
beforeAll(async () => {
  fixture = await createLawFixture();
});
afterAll(() => fixture.close());

describe('the law of lists', () => {
  it.each([...REGRESSIONS, ...LIST_REGRESSIONS].map((regression) => [regression.name, regression] as const))(
    'a list returns exactly the records that single reads allow: %s',
    async (_, { rows, expected, ...lawCase }) => {
      await fixture.fill(rows);
      const { listed } = await checkLaw(fixture, lawCase);
      expect(listed).toEqual(expected.toSorted());
    },
  );

  it('a list returns exactly the records that single reads allow, for random policies on hostile rows', async () => {
    await fixture.fill(hostileRows());
    const tally = createTally();
    await checkRandomCases(fixture, { count: CASES }, tally);
    if (!onPostgres) expectVariety(tally);
  });
});
