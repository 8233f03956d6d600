import type { Json, Kind } from '../operators/index.ts';
import type { Path } from './condition.ts';

/** Said of a path into a record that is not known yet: a list is a read with the record open. */
export const OPEN: unique symbol = Symbol('open');

/** What a path compares as, and what the items of a list compare as. */
export interface PathKind {
  readonly kind: Kind;
  readonly itemKind?: Kind | undefined;
  /** True if the numbers, or the numbers in a list, are integers: in expressions they are CEL's `int`. */
  readonly whole?: true;
}

/** What a condition is evaluated against. `context/` builds it. */
export interface Scope {
  /** The value at a path: own properties of plain data only; undefined is missing; OPEN while the record is unknown. */
  valueOf(path: Path): Json | undefined | typeof OPEN;
  /** What definitions say of a path; undefined where none does. */
  kindOf(path: Path): PathKind | undefined;
  /**
   * What `kindOf` goes by: in all scopes where both are the same objects it says the same of every path, and what follows
   * from that is worked out once. Absent where nobody vouches for it.
   */
  readonly kindsFrom?: { readonly definitions: object; readonly resource: object };
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}
