import { type ChainHead, toHash } from '../index.ts';
import type { ChainRow } from './entry-rows.ts';

/** The kinds of breaks of the audit log; `history` is a break of the policies or of their versions. */
export const BREAK_KINDS = ['edited', 'missing', 'inserted', 'reordered', 'truncated', 'checkpoint', 'signature', 'history'] as const;

/** The kind of a break. */
export type BreakKind = (typeof BREAK_KINDS)[number];

/** A difference between the audit log and the log as it was written. */
export interface Break {
  readonly kind: BreakKind;
  /** The chain, if the break concerns one. */
  readonly writer?: string | undefined;
  /** The sequence number of the entry, or of the first missing one. */
  readonly sequence?: number | undefined;
  /** The id of the entry, if there is one. */
  readonly id?: string | undefined;
  /** The description, as `verify` prints it. */
  readonly detail: string;
}

/** The hash of an entry that a checkpoint or a later chain has stored. */
export interface KnownHead extends ChainHead {
  /** The source that stored the hash, such as "the checkpoint of 2026-01-31T09:00:00.000Z". */
  readonly by: string;
}

/** A chain or the rest of a chain, and the hashes to compare it with. */
export interface ChainInput {
  readonly writer: string;
  /** The position before the first row; its hash is undefined if it is unknown. */
  readonly start: { readonly sequence: number; readonly hash: string | undefined };
  readonly rows: AsyncIterable<ChainRow>;
  readonly known: readonly KnownHead[];
  /** Called with each break. */
  report(found: Break): void;
}

/** The result for a chain. */
export interface ChainResult {
  readonly entries: number;
  /** Sequence number of the last entry. */
  readonly last: number;
}

/** Walks over the entries of a chain and reports every break. Keeps two entries and a limited number of suspects in memory. */
export async function findChainBreaks({ writer, start, rows, known, report }: ChainInput): Promise<ChainResult> {
  let found = 0;
  const countAndReport = (each: Break): void => {
    found++;
    report(each);
  };
  const chain = { writer, previous: start.hash, expected: start.sequence + 1, report: countAndReport };
  const suspects = createSuspects(writer, countAndReport);
  const heads = Map.groupBy(known, ({ sequence }) => sequence);
  let other: Break | undefined;
  let entries = 0;
  for await (const [row, next] of inPairs(rows)) {
    entries++;
    if (checkSequence(chain, row, suspects)) checkHash(chain, { row, next, suspects });
    other ??= checkKnown(writer, row, heads.get(row.sequence));
  }
  suspects.report();
  // Reported only if the chain has no other break, because another break may be its cause.
  if (found === 0 && other !== undefined) report(other);
  return { entries, last: chain.expected - 1 };
}

interface ChainState {
  readonly writer: string;
  previous: string | undefined;
  expected: number;
  report(found: Break): void;
}

/** Reports a repeated sequence number, and missing entries before an entry. Returns false if the number is repeated. */
function checkSequence(chain: ChainState, row: ChainRow, suspects: Suspects): boolean {
  const { writer, expected } = chain;
  if (row.sequence < expected) {
    chain.report({ kind: 'inserted', writer, ...positionOf(row), detail: `${named(row)} has the sequence number of another entry` });
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

/** Checks that the hash of an entry matches its content and the previous hash. If not, the next entry helps to determine the kind of break. */
function checkHash(chain: ChainState, { row, next, suspects }: Step): void {
  const { writer, previous } = chain;
  const isFollowed = next !== undefined && follows(row.hash, next);
  const hash = previous === undefined ? undefined : toHash(previous, row.content);
  chain.previous = row.hash ?? undefined;
  if (hash === undefined || previous === undefined) suspects.add({ row, previous, isFollowed });
  else if (hash === row.hash) return;
  else if (next !== undefined && follows(hash, next)) {
    chain.report({ kind: 'edited', writer, ...positionOf(row), detail: `${named(row)} does not have the hash that it was written with` });
    chain.previous = hash;
  } else if (next !== undefined && follows(previous, next)) {
    suspects.add({ row, previous, isFollowed: false, otherwise: 'inserted' });
    // The suspect may be an entry that was moved from the position after `next`.
    suspects.addBefore(next.hash);
    chain.previous = previous;
    chain.expected = next.sequence;
  } else suspects.add({ row, previous, isFollowed, otherwise: 'edited' });
}

/** Compares the hash of an entry with the known hashes of its sequence number. Returns a break if one of them differs. */
function checkKnown(writer: string, row: ChainRow, heads: readonly KnownHead[] = []): Break | undefined {
  const other = heads.find(({ hash }) => hash !== row.hash);
  if (other === undefined) return undefined;
  const detail = `${named(row)} is not the one that ${other.by} knows: the chain was rewritten up to this entry`;
  return { kind: 'edited', writer, ...positionOf(row), detail };
}

function follows(previous: string | null, row: ChainRow): boolean {
  return previous !== null && toHash(previous, row.content) === row.hash;
}

function positionOf({ id, sequence }: ChainRow): { readonly id: string; readonly sequence: number } {
  return { id, sequence };
}

/** Renders an entry for the detail of a break. */
function named({ id, sequence }: ChainRow): string {
  return `entry ${sequence}, ${id},`;
}

function missing(first: number, last: number): string {
  return first === last ? `entry ${first} is missing` : `entries ${first} to ${last} are missing, ${last - first + 1} of them`;
}

/** Yields each item with the item after it; undefined after the last item. */
async function* inPairs<T>(items: AsyncIterable<T>): AsyncGenerator<readonly [T, T | undefined]> {
  let before: { readonly item: T } | undefined;
  for await (const item of items) {
    if (before !== undefined) yield [before.item, item];
    before = { item };
  }
  if (before !== undefined) yield [before.item, undefined];
}

/** An entry whose hash does not cover the previous entry, or cannot be checked because it comes after a gap. */
export interface Suspect {
  readonly row: ChainRow;
  /** Hash of the previous entry; undefined after a gap. */
  readonly previous: string | undefined;
  /** True if the next entry follows this one, so this entry was not moved alone. */
  readonly isFollowed: boolean;
  /** The kind of break to report if the entry turns out not to have been moved; absent if there is nothing to report in that case. */
  readonly otherwise?: 'edited' | 'inserted';
}

/** The suspects of a chain. Whether they were moved is known only at the end of the chain. */
export interface Suspects {
  add(suspect: Suspect): void;
  /** Adds a hash that a moved entry may have followed before. */
  addBefore(hash: string | null | undefined): void;
  /** Reports the kind of break of each suspect. */
  report(): void;
}

/** Maximum number of suspects that are compared with each other; further ones are reported as edited or inserted. */
const MAX_SUSPECTS = 200;

const DETAILS = {
  edited: 'does not follow the previous entry: it was edited, or the previous entry was removed',
  inserted: 'follows no entry, and no entry follows it',
  reordered: 'was at another position',
} as const;

/** Creates the suspects of a chain. */
function createSuspects(writer: string, report: (found: Break) => void): Suspects {
  const held: Suspect[] = [];
  /** Hashes that a moved entry may have followed before. */
  const before = new Set<string>();

  function reportAs(kind: keyof typeof DETAILS | undefined, { row: { id, sequence } }: Suspect): void {
    if (kind !== undefined) report({ kind, writer, sequence, id, detail: `entry ${sequence}, ${id}, ${DETAILS[kind]}` });
  }

  function addBefore(hash: string | null | undefined): void {
    if (typeof hash === 'string' && before.size < 2 * MAX_SUSPECTS) before.add(hash);
  }

  return {
    addBefore,
    add(suspect) {
      if (held.length >= MAX_SUSPECTS) return reportAs(suspect.otherwise, suspect);
      held.push(suspect);
      addBefore(suspect.previous);
      addBefore(suspect.row.hash);
    },
    report() {
      const displaced = held.filter(({ row }) => [...before].some((hash) => toHash(hash, row.content) === row.hash));
      const moved = displaced.filter(({ isFollowed }) => !isFollowed);
      // If each displaced entry is followed by the next entry, whole ranges were swapped, and each displaced entry begins a range.
      const reordered = new Set(moved.length > 0 ? moved : displaced.filter(({ previous }) => previous !== undefined));
      const displacedSet = new Set(displaced);
      for (const suspect of held)
        reportAs(reordered.has(suspect) ? 'reordered' : displacedSet.has(suspect) ? undefined : suspect.otherwise, suspect);
    },
  };
}
