import { median } from './statistics.ts';

/** Whoever takes turns in a case. */
export interface Racer {
  readonly name: string;
  /** One turn: its figure, and what else was seen. */
  turn(): Promise<{ readonly value: number; readonly beside?: Readonly<Record<string, number>> }>;
}

/** What a racer's turns came to. */
export interface Raced {
  readonly name: string;
  readonly rounds: readonly number[];
  readonly beside: Readonly<Record<string, number>>;
}

/** Lets all of them take turns round by round, so that a busy machine is busy for everybody; who begins changes with each round. */
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
