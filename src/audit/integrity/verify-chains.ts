import { type ChainHead, toBeginningHash } from '../index.ts';
import { type Break, findChainBreaks, type KnownHead } from './chain-breaks.ts';
import { type PublicKeys, parseCut, type SignedHead } from './checkpoint.ts';
import {
  type ChainRow,
  type ChainStart,
  loadBeforeCut,
  loadChainPage,
  loadCutSequence,
  loadHash,
  loadHeadsFoundLater,
  loadMissingChains,
  loadNextWriter,
  loadStart,
  loadUnchained,
  loadUnsequenced,
  parseHeads,
  type RunTransaction,
} from './entry-rows.ts';

/** The result of verifying chains. */
export interface ChainVerification {
  /** Number of verified entries. */
  readonly entries: number;
  readonly chains: number;
  /** Number of entries without a chain, which are older than hash chains and cannot be verified. */
  readonly notChained: number;
  /** The first 1000 breaks; `breakCount` is the number of all breaks. */
  readonly breaks: readonly Break[];
  readonly breakCount: number;
  /** The position to continue from; absent if all was verified. */
  readonly next?: EntryPosition;
}

/** The position of an entry. */
export interface EntryPosition {
  readonly writer: string;
  readonly sequence: number;
}

/** The options of verifying chains. */
export interface VerifyChainsOptions {
  readonly transaction: RunTransaction;
  /** The public keys that may have signed cuts. */
  readonly keys: PublicKeys;
  /** Signed heads of each chain, from checkpoints. */
  readonly known: ReadonlyMap<string, readonly SignedHead[]>;
  /** `next` of the previous result. */
  readonly from?: EntryPosition | undefined;
  /** Maximum number of entries and chains. */
  readonly limit?: number | undefined;
  /** Called with each page of entries. If a chain is pruned during the check, some of its entries are passed again. */
  onEntries?(rows: readonly ChainRow[]): Promise<void>;
}

/** Maximum number of reported breaks; further breaks are only counted. */
const MAX_REPORTED = 1000;
const PAGE = 500;
/** Entries younger than this are never pruned: see `retention-schedule.ts`. */
const MIN_PRUNED_AGE = 24 * 60 * 60_000;
/** Number of later chains that are searched for stored heads of a chain: see `append-entries.ts`. */
const LATER_CHAINS = 64;

/** Verifies every chain of the audit log, one after the other, while requests append entries. Its memory does not grow with the log. */
export async function verifyChains(options: VerifyChainsOptions): Promise<ChainVerification> {
  const { from, limit = Number.POSITIVE_INFINITY } = options;
  const breaks = createBreaks();
  const known = [...options.known.keys()].toSorted();
  const notChained = from === undefined ? await checkUnchained(options, breaks) : 0;
  const total = { entries: 0, chains: 0 };
  const result = (next?: EntryPosition): ChainVerification => ({
    ...total,
    notChained,
    breaks: breaks.reported,
    breakCount: breaks.count,
    ...(next && { next }),
  });

  let writer = from?.writer ?? (await nextWriter(options, undefined, known));
  let after = from?.sequence || undefined;
  while (writer !== undefined) {
    if (total.entries + total.chains >= limit) return result({ writer, sequence: after ?? 0 });
    const chain = { writer, after, limit: limit - total.entries - total.chains };
    const { entries, last, isWhole } = await verifyChain(options, chain, breaks);
    total.entries += entries;
    total.chains += isWhole ? 1 : 0;
    if (!isWhole) return result({ writer, sequence: last });
    writer = await nextWriter(options, writer, known);
    after = undefined;
  }
  return result();
}

async function nextWriter(
  { transaction }: VerifyChainsOptions,
  after: string | undefined,
  known: readonly string[],
): Promise<string | undefined> {
  const stored = await transaction((tx) => loadNextWriter(tx, after));
  const next = known.find((writer) => after === undefined || writer > after);
  return [stored, next].filter((each) => each !== undefined).toSorted()[0];
}

/** Checks the entries without a chain: those older than hash chains are counted, newer ones were inserted and are reported. */
async function checkUnchained({ transaction }: VerifyChainsOptions, breaks: Breaks): Promise<number> {
  const { count, newer } = await transaction((tx) => loadUnchained(tx, MAX_REPORTED));
  for (const id of newer) breaks.report({ kind: 'inserted', id, detail: `entry ${id} is in no chain, but newer than the first chain` });
  return count - newer.length;
}

interface ChainPart {
  readonly writer: string;
  /** Sequence number of the entry to continue after; undefined for the beginning of the chain. */
  readonly after: number | undefined;
  readonly limit: number;
}

interface PartResult {
  readonly entries: number;
  readonly last: number;
  readonly isWhole: boolean;
}

/** Verifies a chain. If the chain is pruned in the meantime, discards the breaks and verifies it again: pruned entries would look missing. */
async function verifyChain(options: VerifyChainsOptions, part: ChainPart, breaks: Breaks): Promise<PartResult> {
  const loadCut = (): Promise<number> => options.transaction((tx) => loadCutSequence(tx, part.writer));
  for (let cut = await loadCut(); ; ) {
    const discard = breaks.savepoint();
    const after = part.after !== undefined && part.after < cut ? undefined : part.after;
    const result = await verifyPart(options, { ...part, after }, breaks);
    const now = await loadCut();
    if (now === cut) return result;
    cut = now;
    discard();
  }
}

async function verifyPart(options: VerifyChainsOptions, { writer, after, limit }: ChainPart, breaks: Breaks): Promise<PartResult> {
  const { start, later } = await options.transaction(async (tx) => ({
    start: await loadStart(tx, writer),
    later: await loadHeadsFoundLater(tx, writer, LATER_CHAINS),
  }));
  const known = [...knownOf(options, writer, later)];
  const begin =
    after === undefined ? await checkStart(options, { writer, start, known }, breaks) : await resume(options, { writer, sequence: after });
  const count = { rows: 0 };
  const rows = rowsOf(options, { writer, after: begin.sequence, limit, count });
  const { entries, last } = await findChainBreaks({ writer, start: begin, rows, known, report: breaks.report });
  const isWhole = count.rows < limit;
  if (isWhole) checkEnd({ writer, start, last }, known, breaks);
  return { entries, last, isWhole };
}

function* knownOf({ known }: VerifyChainsOptions, writer: string, later: readonly ChainHead[]): Generator<KnownHead> {
  for (const head of known.get(writer) ?? []) yield { ...head, by: `the checkpoint of ${head.at}` };
  // Many later chains store the same head of an ended chain, so duplicates are removed.
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
 * Checks the beginning of a chain and returns the position to start from: its beginning or its cut. Checks that the last pruned entry is the
 * one that checkpoints have signed, and that no entry was inserted before the cut.
 */
async function checkStart(
  { transaction, keys }: VerifyChainsOptions,
  { writer, start, known }: Start,
  { report, isNew }: Breaks,
): Promise<Begin> {
  for (const id of await transaction((tx) => loadUnsequenced(tx, writer, MAX_REPORTED)))
    report({ kind: 'inserted', writer, id, detail: `entry ${id} has no sequence number in its chain` });
  if (start === undefined) return { sequence: 0, hash: undefined };
  const gone = await transaction((tx) => loadMissingChains(tx, parseHeads(start.found)));
  for (const head of gone.filter((each) => isNew(each.writer)))
    report({
      kind: 'truncated',
      writer: head.writer,
      sequence: 1,
      detail: `the whole chain of at least ${head.sequence} entries is missing`,
    });
  if (start.cut === null) return { sequence: 0, hash: toBeginningHash(start) };
  const cut = parseCut(start.cut, writer, keys);
  if (cut === undefined) {
    report({ kind: 'signature', writer, detail: 'the cut of the pruned chain is not signed by a known key' });
    return { sequence: 0, hash: undefined };
  }
  const other = known.find((head) => head.sequence === cut.sequence && head.hash !== cut.hash);
  if (other !== undefined) {
    const detail = `entry ${cut.sequence}, the last pruned entry, was not the one that ${other.by} knows`;
    report({ kind: 'edited', writer, sequence: cut.sequence, detail });
  }
  // The time may be invalid, because the holder of the key could sign any text.
  const at = Date.parse(cut.at);
  const since = Number.isNaN(at) ? '' : new Date(at - MIN_PRUNED_AGE).toISOString();
  for (const id of await transaction((tx) => loadBeforeCut(tx, writer, { sequence: cut.sequence, since, limit: MAX_REPORTED })))
    report({ kind: 'inserted', writer, id, detail: `entry ${id} is before the cut of the chain, but too new to have been pruned` });
  return cut;
}

async function resume({ transaction }: VerifyChainsOptions, { writer, sequence }: EntryPosition): Promise<Begin> {
  return { sequence, hash: await transaction((tx) => loadHash(tx, { writer, sequence })) };
}

interface End {
  readonly writer: string;
  readonly start: ChainStart | undefined;
  /** Sequence number of the last entry. */
  readonly last: number;
}

/** Checks that a chain contains the last entry that checkpoints and later chains know. A chain without entries was truncated, because every chain begins with an entry. */
function checkEnd({ writer, start, last }: End, known: readonly KnownHead[], { report, isNew }: Breaks): void {
  if (start === undefined && last > 0)
    report({ kind: 'missing', writer, sequence: 1, detail: 'the beginning of the chain is missing, or its entries were inserted' });
  const [furthest] = known.toSorted((a, b) => b.sequence - a.sequence);
  if (furthest !== undefined && furthest.sequence > last) {
    const state = last > 0 ? `the chain ends with entry ${last}` : 'the whole chain is missing';
    const detail = `${state}, and ${furthest.by} knows entry ${furthest.sequence}: ${furthest.sequence - last} are missing`;
    if (last > 0 || isNew(writer)) report({ kind: 'truncated', writer, sequence: last + 1, detail });
  } else if (last === 0 && isNew(writer)) {
    report({ kind: 'truncated', writer, sequence: 1, detail: 'all entries of the chain are missing' });
  }
}

interface Rows extends Pick<ChainPart, 'writer' | 'limit'> {
  readonly after: number;
  readonly count: { rows: number };
}

/** Loads the entries of a chain page by page. */
async function* rowsOf({ transaction, onEntries }: VerifyChainsOptions, { writer, after, limit, count }: Rows): AsyncGenerator<ChainRow> {
  let position = { sequence: after + 1, id: '' };
  while (count.rows < limit) {
    const wanted = Math.min(PAGE, limit - count.rows);
    const page = await transaction((tx) => loadChainPage(tx, writer, { after: position, limit: wanted }));
    count.rows += page.length;
    await onEntries?.(page);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < wanted) return;
    position = { sequence: last.sequence, id: last.id };
  }
}

interface Breaks {
  readonly reported: readonly Break[];
  readonly count: number;
  report(found: Break): void;
  /** Returns true in the first call for a chain, so that a missing chain whose head several later chains have stored is reported once. */
  isNew(writer: string): boolean;
  /** Returns a function that discards the breaks reported since. */
  savepoint(): () => void;
}

function createBreaks(): Breaks {
  const reported: Break[] = [];
  let gone = new Set<string>();
  let count = 0;
  return {
    savepoint() {
      const before = { reported: reported.length, gone: new Set(gone), count };
      return () => {
        reported.length = before.reported;
        ({ gone, count } = before);
      };
    },
    reported,
    get count() {
      return count;
    },
    report(found) {
      count++;
      if (reported.length < MAX_REPORTED) reported.push(found);
    },
    isNew(writer) {
      const isNew = !gone.has(writer);
      if (gone.size < MAX_REPORTED) gone.add(writer);
      return isNew;
    },
  };
}
