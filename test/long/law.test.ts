/** The law, longer: over other rows every time. `LAW_QUESTIONS` says how many to ask (100,000 take half an hour). */
import { expect, it } from 'vitest';
import { askAtRandom, createTally, expectTelling } from '../law/at-random.ts';
import { hostileRows } from '../law/data.ts';
import { createWorld } from '../law/law-fixture.ts';

const QUESTIONS = Number(process.env['LAW_QUESTIONS'] ?? 20_000);
/** Questions about the same rows. */
const ROUND = 1000;

it(
  `holds for ${QUESTIONS} questions`,
  async () => {
    const world = await createWorld();
    const tally = createTally();
    try {
      for (let turn = 1; tally.asked < QUESTIONS; turn++) {
        await world.fill(hostileRows(turn));
        await askAtRandom(world, Math.min(ROUND, QUESTIONS - tally.asked), tally);
      }
    } finally {
      await world.close();
    }
    expect(tally.asked).toBe(QUESTIONS);
    expectTelling(tally);
  },
  QUESTIONS * 100,
);
