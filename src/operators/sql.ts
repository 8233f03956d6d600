import type { RawBuilder } from 'kysely';

/** How databases differ in what comparisons need. Each database brings one of these. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** Unicode case folding, the same as `foldCase` in memory. */
  foldCase(text: RawBuilder<unknown>): RawBuilder<string>;
  /** Position of `part` in `text`, 0 where absent; exact, no wildcards, no case folding. */
  position(text: RawBuilder<unknown>, part: RawBuilder<unknown>): RawBuilder<number>;
  /** A table expression with one column `value`, one row for each item of a stored list. */
  listItems(list: RawBuilder<unknown>): RawBuilder<unknown>;
}
