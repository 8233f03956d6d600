import { type Head, toBeginningHash } from '../index.ts';
import { checkChain, type KnownHead } from './check-chain.ts';
import { type PublicKeys, parseCut } from './checkpoint.ts';
import type { Look, SignedHead } from './compare-heads.ts';
import {
  type ChainRow,
  type ChainStart,
  loadBehindCut,
  loadChainPage,
  loadCutPlace,
  loadFoundLater,
  loadGone,
  loadHash,
  loadNextWriter,
  loadPlaceless,
  loadStart,
  loadUnchained,
  readHeads,
} from './entry-rows.ts';
import type { Break } from './integrity-break.ts';

/** What a look at the record came to. */
export interface Verification {
  /** Entries that were looked at. */
  readonly entries: number;
  readonly chains: number;
  /** Entries from before there were chains: of them nothing can be said. */
  readonly notChained: number;
  /** The first of them. */
  readonly breaks: readonly Break[];
  readonly breakCount: number;
  /** Where to go on; absent where all was looked at. */
  readonly next?: ChainPlace;
}

/** An entry by where it stands. */
export interface ChainPlace {
  readonly writer: string;
  readonly sequence: number;
}

/** What is looked at, and against what. */
export interface Verifying {
  readonly look: Look;
  /** Those who may have pruned. */
  readonly keys: PublicKeys;
  /** What checkpoints know of each chain: its last entry, at least. */
  readonly known: ReadonlyMap<string, readonly SignedHead[]>;
  /** `next` of the look before. */
  readonly from?: ChainPlace | undefined;
  /** Entries and chains at most. */
  readonly limit?: number | undefined;
  /** Called with each page of entries; with some entries again if the start of their chain is pruned during the check. */
  onEntries?(rows: readonly ChainRow[]): Promise<void>;
}

/** Breaks that are told one by one; more are counted. */
const TOLD = 1000;
const PAGE = 500;
/** What is younger than this is never pruned, whatever is asked for: see `days.ts` of retention. */
const YOUNG = 24 * 60 * 60_000;
/** Chains that began next, and may have found this one: see `append.ts` of the record. */
const LATER = 64;

/** Looks at every chain of the record, one after the other, in memory that does not grow with them; others append meanwhile. */
export async function verifyRecord(verifying: Verifying): Promise<Verification> {
  const { from, limit = Number.POSITIVE_INFINITY } = verifying;
  const breaks = createBreaks();
  const known = [...verifying.known.keys()].toSorted();
  const notChained = from === undefined ? await checkUnchained(verifying, breaks) : 0;
  const total = { entries: 0, chains: 0 };
  const result = (next?: ChainPlace): Verification => ({
    ...total,
    notChained,
    breaks: breaks.told,
    breakCount: breaks.count,
    ...(next && { next }),
  });

  let writer = from?.writer ?? (await nextWriter(verifying, undefined, known));
  let after = from?.sequence || undefined;
  while (writer !== undefined) {
    if (total.entries + total.chains >= limit) return result({ writer, sequence: after ?? 0 });
    const chain = { writer, after, limit: limit - total.entries - total.chains };
    const { entries, last, isWhole } = await verifyChain(verifying, chain, breaks);
    total.entries += entries;
    total.chains += isWhole ? 1 : 0;
    if (!isWhole) return result({ writer, sequence: last });
    writer = await nextWriter(verifying, writer, known);
    after = undefined;
  }
  return result();
}

async function nextWriter({ look }: Verifying, after: string | undefined, known: readonly string[]): Promise<string | undefined> {
  const there = await look((tx) => loadNextWriter(tx, after));
  const next = known.find((writer) => after === undefined || writer > after);
  return [there, next].filter((each) => each !== undefined).toSorted()[0];
}

/** Entries that are in no chain: those from before there were any, and those that somebody has put there since. */
async function checkUnchained({ look }: Verifying, breaks: Breaks): Promise<number> {
  const { count, newer } = await look((tx) => loadUnchained(tx, TOLD));
  for (const id of newer) breaks.report({ kind: 'inserted', id, detail: `entry ${id} is in no chain, and newer than chains are` });
  return count - newer.length;
}

interface ChainPart {
  readonly writer: string;
  /** The entry it goes on behind; undefined at its beginning. */
  readonly after: number | undefined;
  readonly limit: number;
}

interface LookedAt {
  readonly entries: number;
  readonly last: number;
  readonly isWhole: boolean;
}

/** Where its beginning was pruned while it was looked at, it is looked at again: what is missing then is not what was missed before. */
async function verifyChain(verifying: Verifying, part: ChainPart, breaks: Breaks): Promise<LookedAt> {
  const loadCut = (): Promise<number> => verifying.look((tx) => loadCutPlace(tx, part.writer));
  for (let cut = await loadCut(); ; ) {
    const undo = breaks.mark();
    const after = part.after !== undefined && part.after < cut ? undefined : part.after;
    const looked = await lookAtChain(verifying, { ...part, after }, breaks);
    const now = await loadCut();
    if (now === cut) return looked;
    cut = now;
    undo();
  }
}

async function lookAtChain(verifying: Verifying, { writer, after, limit }: ChainPart, breaks: Breaks): Promise<LookedAt> {
  const { start, later } = await verifying.look(async (tx) => ({
    start: await loadStart(tx, writer),
    later: await loadFoundLater(tx, writer, LATER),
  }));
  const known = [...knownOf(verifying, writer, later)];
  const begin =
    after === undefined
      ? await checkStart(verifying, { writer, start, known }, breaks)
      : await resume(verifying, { writer, sequence: after });
  const counted = { rows: 0 };
  const rows = rowsOf(verifying, { writer, after: begin.sequence, limit, counted });
  const { entries, last } = await checkChain({ writer, start: begin, rows, known, report: breaks.report });
  const isWhole = counted.rows < limit;
  if (isWhole) checkEnd({ writer, start, last }, known, breaks);
  return { entries, last, isWhole };
}

function* knownOf({ known }: Verifying, writer: string, later: readonly Head[]): Generator<KnownHead> {
  for (const head of known.get(writer) ?? []) yield { ...head, by: `the checkpoint of ${head.at}` };
  // Of a chain that has ended, all that began later know the same.
  const different = new Map(later.map((head) => [`${head.sequence} ${head.hash}`, head]));
  for (const head of different.values()) yield { ...head, by: 'a chain that began later' };
}

interface Begin {
  readonly sequence: number;
  readonly hash: string | undefined;
}

interface Start {
  readonly writer: string;
  readonly start: ChainStart | undefined;
  readonly known: readonly KnownHead[];
}

/**
 * Where a chain begins: where it began, or where it was cut. Then the last entry that went was the one that others have seen, and nobody has
 * put another where no chain is looked at any more.
 */
async function checkStart({ look, keys }: Verifying, { writer, start, known }: Start, { report, isNew }: Breaks): Promise<Begin> {
  for (const id of await look((tx) => loadPlaceless(tx, writer, TOLD)))
    report({ kind: 'inserted', writer, id, detail: `entry ${id} has no place in its chain` });
  if (start === undefined) return { sequence: 0, hash: undefined };
  const gone = await look((tx) => loadGone(tx, readHeads(start.found)));
  for (const head of gone.filter((each) => isNew(each.writer)))
    report({
      kind: 'truncated',
      writer: head.writer,
      sequence: 1,
      detail: `the whole chain is gone, of ${head.sequence} entries at least`,
    });
  if (start.cut === null) return { sequence: 0, hash: toBeginningHash(start) };
  const cut = parseCut(start.cut, writer, keys);
  if (cut === undefined) {
    report({ kind: 'signature', writer, detail: 'where the chain was pruned is not signed by a key that is given' });
    return { sequence: 0, hash: undefined };
  }
  const other = known.find((head) => head.sequence === cut.sequence && head.hash !== cut.hash);
  if (other !== undefined) {
    const detail = `entry ${cut.sequence}, the last that was pruned, was not the one that ${other.by} knows`;
    report({ kind: 'edited', writer, sequence: cut.sequence, detail });
  }
  // Whoever has the key may have said any time.
  const at = Date.parse(cut.at);
  const since = Number.isNaN(at) ? '' : new Date(at - YOUNG).toISOString();
  for (const id of await look((tx) => loadBehindCut(tx, writer, { sequence: cut.sequence, since, limit: TOLD })))
    report({ kind: 'inserted', writer, id, detail: `entry ${id} stands among those that were pruned, and is younger` });
  return cut;
}

async function resume({ look }: Verifying, { writer, sequence }: ChainPlace): Promise<Begin> {
  return { sequence, hash: await look((tx) => loadHash(tx, { writer, sequence })) };
}

interface End {
  readonly writer: string;
  readonly start: ChainStart | undefined;
  /** Number of its last entry. */
  readonly last: number;
}

/** Whether the chain goes as far as others have seen it go; it had one entry at least, or it would not have begun. */
function checkEnd({ writer, start, last }: End, known: readonly KnownHead[], { report, isNew }: Breaks): void {
  if (start === undefined && last > 0)
    report({ kind: 'missing', writer, sequence: 1, detail: 'how the chain began is missing, or its entries were put there' });
  const [furthest] = known.toSorted((a, b) => b.sequence - a.sequence);
  if (furthest !== undefined && furthest.sequence > last) {
    const what = last > 0 ? `the chain ends with entry ${last}` : 'the whole chain is gone';
    const detail = `${what}, and ${furthest.by} knows entry ${furthest.sequence}: ${furthest.sequence - last} are missing`;
    if (last > 0 || isNew(writer)) report({ kind: 'truncated', writer, sequence: last + 1, detail });
  } else if (last === 0 && isNew(writer)) {
    report({ kind: 'truncated', writer, sequence: 1, detail: 'all entries of the chain are gone' });
  }
}

interface Rows extends Pick<ChainPart, 'writer' | 'limit'> {
  readonly after: number;
  readonly counted: { rows: number };
}

/** The entries of a chain, page by page. */
async function* rowsOf({ look, onEntries }: Verifying, { writer, after, limit, counted }: Rows): AsyncGenerator<ChainRow> {
  let position = { sequence: after + 1, id: '' };
  while (counted.rows < limit) {
    const wanted = Math.min(PAGE, limit - counted.rows);
    const page = await look((tx) => loadChainPage(tx, writer, { after: position, limit: wanted }));
    counted.rows += page.length;
    await onEntries?.(page);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < wanted) return;
    position = { sequence: last.sequence, id: last.id };
  }
}

interface Breaks {
  readonly told: readonly Break[];
  readonly count: number;
  report(found: Break): void;
  /** Whether a chain that is gone was not told of yet: many may have found it. */
  isNew(writer: string): boolean;
  /** Answers what takes back all that is told from here on. */
  mark(): () => void;
}

function createBreaks(): Breaks {
  const told: Break[] = [];
  let gone = new Set<string>();
  let count = 0;
  return {
    mark() {
      const before = { told: told.length, gone: new Set(gone), count };
      return () => {
        told.length = before.told;
        ({ gone, count } = before);
      };
    },
    told,
    get count() {
      return count;
    },
    report(found) {
      count++;
      if (told.length < TOLD) told.push(found);
    },
    isNew(writer) {
      const isNew = !gone.has(writer);
      if (gone.size < TOLD) gone.add(writer);
      return isNew;
    },
  };
}
