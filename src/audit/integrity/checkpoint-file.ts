import { createReadStream, promises as files } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { findFile, makeExclusively, makeFolder, refuseSpecial, syncFolder } from '../../files/index.ts';
import type { Break } from './chain-breaks.ts';
import { type Checkpoint, hashOfLine, isSigned, type PublicKeys, parseCheckpointLine, type SignedHead, signatureOf } from './checkpoint.ts';
import { loadHash, type RunTransaction } from './entry-rows.ts';

/** The content of a checkpoint file, as far as its signatures are valid. */
export interface VerifiedCheckpoints {
  readonly lines: number;
  /** Time of the last checkpoint. */
  readonly until: string | undefined;
  /** The last signed head of each chain, and the first signed head whose entry has another hash now. */
  readonly known: ReadonlyMap<string, readonly SignedHead[]>;
  /** Times at which a backup was restored. */
  readonly restored: readonly string[];
}

/** The options of verifying a checkpoint file. */
export interface CheckpointFileOptions {
  readonly keys: PublicKeys;
  /** The hash of the last line of each service, from the database: see `loadLastLines`. */
  readonly lastLines: ReadonlyMap<string, string>;
  readonly transaction: RunTransaction;
  report(found: Break): void;
}

/** Maximum number of lines between a line and the line that it follows: processes that share a file may append after the same line. */
const MAX_DISTANCE = 512;

/** A recent line, which later lines may follow. */
interface RecentLine {
  readonly hash: string;
  readonly signature: string;
}

/**
 * Reads a checkpoint file, and reports lines that are not signed, that do not follow a previous line, or that are missing at the end. The
 * content of a line without a valid signature is ignored. A line that is not a checkpoint is ignored too, because a killed process may have
 * written half of it. A line that was replaced as a whole is found, because the next line does not follow it.
 *
 * @throws if the file cannot be read.
 */
export async function verifyCheckpointFile(
  path: string,
  { keys, lastLines, transaction, report }: CheckpointFileOptions,
): Promise<VerifiedCheckpoints> {
  const heads = new Map<string, SignedHead>();
  const comparison = createHeadComparison(transaction);
  const restored: string[] = [];
  const recent: RecentLine[] = [];
  const missing = new Set([...lastLines].flatMap(([service, line]) => (keys.has(service) ? [line] : [])));
  let lines = 0;
  let until: string | undefined;
  for await (const line of linesOf(path)) {
    const at = `line ${++lines} of the checkpoint file`;
    const checkpoint = parseCheckpointLine(line);
    if (checkpoint === undefined) continue;
    const current = { hash: hashOfLine(line), signature: signatureOf(checkpoint) };
    // A copy of a line is ignored: a copied `restored` line must not hide entries that are missing.
    if (recent.some(({ signature }) => signature === current.signature)) continue;
    const follows = recent.length === 0 ? checkpoint.previous === '' : recent.some(({ hash }) => hash === checkpoint.previous);
    if (!follows) report({ kind: 'checkpoint', detail: `${at} does not follow the previous line: lines were edited, moved or removed` });
    recent.push(current);
    if (recent.length > MAX_DISTANCE) recent.shift();
    missing.delete(current.hash);
    const defect = signatureDefectOf(checkpoint, keys);
    if (defect !== undefined) {
      report({ kind: 'signature', detail: `${at} ${defect}` });
      continue;
    }
    addHeads(heads, checkpoint);
    await comparison.add(checkpoint.heads.map((head) => ({ ...head, at: checkpoint.at })));
    if (checkpoint.kind === 'restored') restored.push(checkpoint.at);
    until = checkpoint.at;
  }
  if (missing.size > 0)
    report({ kind: 'checkpoint', detail: 'the checkpoint file ends before a line that the database knows: lines were removed' });
  return { lines, until, known: toKnown(heads, await comparison.finish()), restored };
}

function signatureDefectOf(checkpoint: Checkpoint, keys: PublicKeys): string | undefined {
  if (!keys.has(checkpoint.service)) return `is signed by an unknown key: ${checkpoint.service.slice(0, 64)}`;
  return isSigned(checkpoint, keys) ? undefined : 'is not as it was signed: it was edited';
}

function toKnown(
  last: ReadonlyMap<string, SignedHead>,
  different: ReadonlyMap<string, SignedHead>,
): ReadonlyMap<string, readonly SignedHead[]> {
  const writers = new Set([...last.keys(), ...different.keys()]);
  const known = (writer: string): readonly SignedHead[] => [different.get(writer), last.get(writer)].filter((head) => head !== undefined);
  return new Map([...writers].map((writer) => [writer, known(writer)]));
}

function addHeads(heads: Map<string, SignedHead>, { kind, at, heads: signed }: Checkpoint): void {
  if (kind === 'restored') {
    const [first] = signed;
    // A `restored` line names the newest chains only; the heads of older chains remain.
    for (const writer of [...heads.keys()]) if (first === undefined || writer >= first.writer) heads.delete(writer);
  }
  for (const head of signed) {
    const known = heads.get(head.writer);
    // A `cut` does not replace the hash that another line has signed for the same entry.
    if (known?.sequence === head.sequence && kind === 'cut') continue;
    if (known === undefined || known.sequence <= head.sequence) heads.set(head.writer, { ...head, at });
  }
}

/** Reads lines one at a time. The last line may be incomplete. */
async function* linesOf(path: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

/**
 * Appends the line that `render` returns for the hash of the previous line, and syncs the file to disk. Returns the hash of the new line.
 * Existing lines never change, so that the file system can be configured to allow nothing else.
 */
export async function appendLine(path: string, render: (previous: string) => string): Promise<string> {
  makeFolder(dirname(path), 0o700);
  if (findFile(path) === undefined) {
    const first = render('');
    // Only one of several processes creates the file. Otherwise each would append a first line.
    if (makeExclusively(path, `${first}\n`)) return hashOfLine(first);
  }
  const file = await files.open(path, 'a+', 0o600);
  try {
    // A device or a pipe could not be read again.
    refuseSpecial(await file.stat());
    const { previous, isWhole } = await readEnd(file);
    const line = render(previous);
    await file.appendFile(`${isWhole ? '' : '\n'}${line}\n`);
    await file.sync();
    // The database will know this line, so a new file must not be lost in a power cut.
    syncFolder(dirname(path));
    return hashOfLine(line);
  } finally {
    await file.close();
  }
}

const CHUNK = 65_536;

/** Returns the hash of the last checkpoint, empty if there is none, and whether the last line is complete. */
async function readEnd(file: files.FileHandle): Promise<{ readonly previous: string; readonly isWhole: boolean }> {
  const { size } = await file.stat();
  let text = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(CHUNK, from);
    from -= length;
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
    text = Buffer.concat([buffer, text]);
    // The first line may be incomplete unless the file was read from its start.
    const lines = text
      .toString()
      .split('\n')
      .slice(from > 0 ? 1 : 0);
    const line = lines.findLast((each) => parseCheckpointLine(each) !== undefined);
    if (line !== undefined) return { previous: hashOfLine(line), isWhole: lines.at(-1) === '' };
  }
  return { previous: '', isWhole: size === 0 || text.at(-1) === 0x0a };
}

/** Compares every signed head with the current entry at its position. */
interface HeadComparison {
  add(heads: readonly SignedHead[]): Promise<void>;
  /** Returns the first head of each chain whose entry has another hash now. A missing entry is reported by the check of its chain. */
  finish(): Promise<ReadonlyMap<string, SignedHead>>;
}

const BATCH_SIZE = 500;

/**
 * Creates the comparison. It compares every head and not only the last of each chain, because a later head may cover an entry that was
 * changed while the service ran. Its memory does not grow with the file.
 */
function createHeadComparison(transaction: RunTransaction): HeadComparison {
  const different = new Map<string, SignedHead>();
  let pending: SignedHead[] = [];

  async function compare(): Promise<void> {
    const heads = pending;
    pending = [];
    const hashes = await transaction((tx) => Promise.all(heads.map((head) => loadHash(tx, head))));
    for (const [index, head] of heads.entries()) {
      const hash = hashes[index];
      if (hash !== undefined && hash !== head.hash && !different.has(head.writer)) different.set(head.writer, head);
    }
  }

  return {
    async add(heads) {
      pending.push(...heads);
      if (pending.length >= BATCH_SIZE) await compare();
    },
    async finish() {
      await compare();
      return different;
    },
  };
}
