import { type Condition, type OPEN, type Path, reduce } from '../condition/index.ts';
import { describePath } from '../context/index.ts';
import type { Json } from '../operators/index.ts';
import type { Definitions } from '../resource/index.ts';

/** What little is known before anyone asks. */
export interface Known {
  readonly definitions: Definitions;
  /** Name of the resource that a rule is about, or `*`: what paths compare as. */
  readonly resource: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  valueOf(path: Path): Json | undefined | typeof OPEN;
}

/** What is left of a condition where nobody has asked yet: whatever `valueOf` leaves open stays in it. */
export function whatIsLeft(condition: Condition, known: Known): Condition {
  const describe = describePath(known.definitions, known.resource);
  return reduce(condition, {
    now: known.now,
    timeZone: 'UTC',
    valueOf: (path) => known.valueOf(path),
    kindOf(path) {
      const described = describe(path);
      return described === 'any' || 'problem' in described ? undefined : described;
    },
  });
}
