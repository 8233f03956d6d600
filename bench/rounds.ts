import { median } from './statistics.ts';

/** A contestant in a case. */
export interface Racer {
  readonly name: string;
  /** Measures one turn: its value, and other values. */
  turn(): Promise<{ readonly value: number; readonly beside?: Readonly<Record<string, number>> }>;
}

/** The results of a contestant. */
export interface Raced {
  readonly name: string;
  readonly rounds: readonly number[];
  readonly beside: Readonly<Record<string, number>>;
}

/** A race whose rounds are run one at a time. */
export interface Race {
  /** Measures one turn of each contestant, in an order that changes with each round. */
  runRound(): Promise<void>;
  results(): readonly Raced[];
}

/** Creates a race without rounds. */
export function createRace(racers: readonly Racer[]): Race {
  const turns = new Map(racers.map(({ name }) => [name, [] as Awaited<ReturnType<Racer['turn']>>[]]));
  let round = 0;
  return {
    async runRound() {
      const order = round++ % 2 === 0 ? racers : racers.toReversed();
      for (const racer of order) turns.get(racer.name)?.push(await racer.turn());
    },
    results: () =>
      [...turns].map(([name, done]) => ({
        name,
        rounds: done.map(({ value }) => value),
        beside: Object.fromEntries(
          Object.keys(done[0]?.beside ?? {}).map((key) => [key, median(done.map(({ beside }) => beside?.[key] ?? Number.NaN))]),
        ),
      })),
  };
}

/** Measures all contestants in each round, so that other load on the machine affects all of them. */
export async function race(racers: readonly Racer[], rounds: number): Promise<readonly Raced[]> {
  const running = createRace(racers);
  for (let round = 0; round < rounds; round++) await running.runRound();
  return running.results();
}
