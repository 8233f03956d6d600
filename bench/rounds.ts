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

/** Measures all contestants in each round, so that other load on the machine affects all of them. The order changes with each round. */
export async function race(racers: readonly Racer[], rounds: number): Promise<readonly Raced[]> {
  const turns = new Map(racers.map(({ name }) => [name, [] as Awaited<ReturnType<Racer['turn']>>[]]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? racers : racers.toReversed();
    for (const racer of order) turns.get(racer.name)?.push(await racer.turn());
  }
  return [...turns].map(([name, done]) => ({
    name,
    rounds: done.map(({ value }) => value),
    beside: Object.fromEntries(
      Object.keys(done[0]?.beside ?? {}).map((key) => [key, median(done.map(({ beside }) => beside?.[key] ?? Number.NaN))]),
    ),
  }));
}
