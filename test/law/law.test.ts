import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf, onPostgres } from '../postgres/test-database.ts';
import { askAtRandom, createTally, expectTelling } from './at-random.ts';
import { checkLaw } from './check.ts';
import { hostileRows } from './data.ts';
import { createWorld, type World } from './law-fixture.ts';
import { REGRESSIONS } from './regressions.ts';

const QUESTIONS = casesOf(2000);

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe('a list shows what deciding on each record by itself allows, and the prose', () => {
  it.each(REGRESSIONS)('$name', async ({ rows, expected, ...question }) => {
    await world.fill(rows);
    const { listed } = await checkLaw(world, question);
    expect(listed).toEqual(expected.toSorted());
  });

  it('whatever the policies and the rows', async () => {
    await world.fill(hostileRows());
    const tally = createTally();
    await askAtRandom(world, QUESTIONS, tally);
    if (!onPostgres) expectTelling(tally);
  }, 600_000);
});
