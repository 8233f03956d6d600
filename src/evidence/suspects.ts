import { toHash } from '../audit/index.ts';
import type { Break } from './break.ts';
import type { ChainRow } from './rows.ts';

/** An entry that does not follow the one before it. */
export interface Suspect {
  readonly row: ChainRow;
  /** Hash of the one before it; undefined behind a gap. */
  readonly previous: string | undefined;
  /** Whether the one behind it does follow it: then it has not moved alone. */
  readonly isFollowed: boolean;
  /** What it is where it did not stand elsewhere before; absent where nothing is wrong with it then. */
  readonly otherwise?: 'edited' | 'inserted';
}

/** Those of one chain: whether they stood elsewhere is known once all of the chain is. */
export interface Suspects {
  add(suspect: Suspect): void;
  /** A hash that one of them may have followed before it was moved. */
  addBefore(hash: string | null | undefined): void;
  /** Tells what each of them is. */
  settle(): void;
}

/** So many are held, and compared with one another; more are told as what they are otherwise. */
const MOST = 200;

const DETAILS = {
  edited: 'does not follow the one before: it was edited, or that was taken away',
  inserted: 'follows nothing, and nothing follows it',
  reordered: 'stood in another place',
} as const;

/** Suspects of one chain. */
export function createSuspects(writer: string, report: (found: Break) => void): Suspects {
  const held: Suspect[] = [];
  /** Hashes that an entry may have followed before it was moved. */
  const before = new Set<string>();

  function tell(kind: keyof typeof DETAILS | undefined, { row: { id, sequence } }: Suspect): void {
    if (kind !== undefined) report({ kind, writer, sequence, id, detail: `entry ${sequence}, ${id}, ${DETAILS[kind]}` });
  }

  function addBefore(hash: string | null | undefined): void {
    if (typeof hash === 'string' && before.size < 2 * MOST) before.add(hash);
  }

  return {
    addBefore,
    add(suspect) {
      if (held.length >= MOST) return tell(suspect.otherwise, suspect);
      held.push(suspect);
      addBefore(suspect.previous);
      addBefore(suspect.row.hash);
    },
    settle() {
      const displaced = held.filter(({ row }) => [...before].some((hash) => toHash(hash, row.content) === row.hash));
      const moved = displaced.filter(({ isFollowed }) => !isFollowed);
      // Where all of them are followed, whole stretches have changed places, and each of these begins one.
      const told = new Set(moved.length > 0 ? moved : displaced.filter(({ previous }) => previous !== undefined));
      const others = new Set(displaced);
      for (const suspect of held) tell(told.has(suspect) ? 'reordered' : others.has(suspect) ? undefined : suspect.otherwise, suspect);
    },
  };
}
