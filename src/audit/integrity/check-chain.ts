import { type Head, toHash } from '../index.ts';
import type { ChainRow } from './entry-rows.ts';
import type { Break } from './integrity-break.ts';

/** What somebody knows of an entry, and who that is. */
export interface KnownHead extends Head {
  /** Such as "the checkpoint of 2026-01-31T09:00:00.000Z". */
  readonly by: string;
}

/** A chain, from somewhere on. */
export interface ChainToCheck {
  readonly writer: string;
  /** What the first of the rows follows; without a hash where nobody knows any more. */
  readonly start: { readonly sequence: number; readonly hash: string | undefined };
  readonly rows: AsyncIterable<ChainRow>;
  readonly known: readonly KnownHead[];
  /** Told each break, as it is found. */
  report(found: Break): void;
}

/** How far a chain was looked at. */
export interface CheckedChain {
  readonly entries: number;
  /** Number of its last entry. */
  readonly last: number;
}

/** Goes along a chain, entry by entry, and tells what does not follow. Holds two of them at a time, and a bounded number of those that do not fit. */
export async function checkChain({ writer, start, rows, known, report }: ChainToCheck): Promise<CheckedChain> {
  let found = 0;
  const tell = (each: Break): void => {
    found++;
    report(each);
  };
  const chain = { writer, previous: start.hash, expected: start.sequence + 1, report: tell };
  const suspects = createSuspects(writer, tell);
  const heads = Map.groupBy(known, ({ sequence }) => sequence);
  let other: Break | undefined;
  let entries = 0;
  for await (const [row, next] of inPairs(rows)) {
    entries++;
    if (checkPlace(chain, row, suspects)) checkFollows(chain, { row, next, suspects });
    other ??= checkKnown(writer, row, heads.get(row.sequence));
  }
  suspects.settle();
  // Where something else is wrong with the chain, this may only follow from it.
  if (found === 0 && other !== undefined) report(other);
  return { entries, last: chain.expected - 1 };
}

interface Going {
  readonly writer: string;
  previous: string | undefined;
  expected: number;
  report(found: Break): void;
}

/** Whether the entry stands where one can: not in the place of another. Tells which are missing before it. */
function checkPlace(chain: Going, row: ChainRow, suspects: Suspects): boolean {
  const { writer, expected } = chain;
  if (row.sequence < expected) {
    chain.report({ kind: 'inserted', writer, ...placeOf(row), detail: `${named(row)} stands in the place of another entry` });
    return false;
  }
  if (row.sequence > expected) {
    chain.report({ kind: 'missing', writer, sequence: expected, detail: missing(expected, row.sequence - 1) });
    suspects.addBefore(chain.previous);
    chain.previous = undefined;
  }
  chain.expected = row.sequence + 1;
  return true;
}

interface Step {
  readonly row: ChainRow;
  readonly next: ChainRow | undefined;
  readonly suspects: Suspects;
}

/** Looks whether the entry follows the one before. Where it does not, the one behind helps to tell why. */
function checkFollows(chain: Going, { row, next, suspects }: Step): void {
  const { writer, previous } = chain;
  const isFollowed = next !== undefined && follows(row.hash, next);
  const hash = previous === undefined ? undefined : toHash(previous, row.content);
  chain.previous = row.hash ?? undefined;
  if (hash === undefined || previous === undefined) suspects.add({ row, previous, isFollowed });
  else if (hash === row.hash) return;
  else if (next !== undefined && follows(hash, next)) {
    chain.report({ kind: 'edited', writer, ...placeOf(row), detail: `${named(row)} has another hash than it was given` });
    chain.previous = hash;
  } else if (next !== undefined && follows(previous, next)) {
    suspects.add({ row, previous, isFollowed: false, otherwise: 'inserted' });
    // It may have stood behind this one.
    suspects.addBefore(next.hash);
    chain.previous = previous;
    chain.expected = next.sequence;
  } else suspects.add({ row, previous, isFollowed, otherwise: 'edited' });
}

/** Whether it is the entry that others have seen in its place. */
function checkKnown(writer: string, row: ChainRow, heads: readonly KnownHead[] = []): Break | undefined {
  const other = heads.find(({ hash }) => hash !== row.hash);
  if (other === undefined) return undefined;
  const detail = `${named(row)} is not the one that ${other.by} knows: the chain was written anew up to there`;
  return { kind: 'edited', writer, ...placeOf(row), detail };
}

function follows(previous: string | null, row: ChainRow): boolean {
  return previous !== null && toHash(previous, row.content) === row.hash;
}

function placeOf({ id, sequence }: ChainRow): { readonly id: string; readonly sequence: number } {
  return { id, sequence };
}

/** How an entry is called in sentences. */
function named({ id, sequence }: ChainRow): string {
  return `entry ${sequence}, ${id},`;
}

function missing(first: number, last: number): string {
  return first === last ? `entry ${first} is missing` : `entries ${first} to ${last} are missing, ${last - first + 1} of them`;
}

/** Each with the one behind it. */
async function* inPairs<T>(items: AsyncIterable<T>): AsyncGenerator<readonly [T, T | undefined]> {
  let before: { readonly item: T } | undefined;
  for await (const item of items) {
    if (before !== undefined) yield [before.item, item];
    before = { item };
  }
  if (before !== undefined) yield [before.item, undefined];
}

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
