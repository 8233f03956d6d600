import { it as register } from 'vitest';

/** Registers a test. */
type Register<Row extends readonly unknown[]> = (name: string, run: (...row: Row) => unknown, timeout?: number) => void;

/** Registers tests as `it` of Vitest does, in a chain. */
export interface Chain extends Register<[]> {
  each<Row extends unknown[] | [unknown]>(rows: readonly Row[]): Register<Row>;
  each<Row extends readonly unknown[]>(rows: readonly Row[]): Register<Row>;
  each<Row>(rows: readonly Row[]): Register<[Row]>;
}

/**
 * Creates an `it` for tests that build on each other, such as the requests of one story. Each test first performs the tests registered
 * before it that have not run yet. So each test passes alone and in any order. If a test fails, the later ones fail with its error.
 * Vitest registers the tests outside a `describe` before those inside: a chain has only one of the two kinds.
 */
export function createChain(): Chain {
  let previous = async (): Promise<void> => undefined;

  function link(run: () => unknown): () => Promise<void> {
    const before = previous;
    let outcome: Promise<void> | undefined;
    previous = () => {
      outcome ??= before().then(async () => void (await run()));
      return outcome;
    };
    return previous;
  }

  const chain: Register<[]> = (name, run, timeout) => register(name, link(run), timeout);
  const each =
    (rows: readonly unknown[]): Register<unknown[]> =>
    (name, run, timeout) => {
      for (const row of rows)
        register.each([row])(
          name,
          link(() => run(...(Array.isArray(row) ? row : [row]))),
          timeout,
        );
    };
  return Object.assign(chain, { each }) as Chain;
}
