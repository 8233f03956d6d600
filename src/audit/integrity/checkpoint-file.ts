import { createReadStream, promises as files } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder, refuseSpecial } from '../../files/index.ts';
import { type Checkpoint, hashOfLine, isSigned, type PublicKeys, parseCheckpointLine, signatureOf } from './checkpoint.ts';
import { createComparison, type Look, type SignedHead } from './compare-heads.ts';
import type { Break } from './integrity-break.ts';

/** What a checkpoint file says. */
export interface ReadCheckpoints {
  readonly lines: number;
  /** When the last was made. */
  readonly until: string | undefined;
  /** Of each chain the last entry that is known, and the first that is another by now. */
  readonly known: ReadonlyMap<string, readonly SignedHead[]>;
  /** Times that a backup was restored. */
  readonly restored: readonly string[];
}

/** How a file is read. */
export interface CheckpointReading {
  readonly keys: PublicKeys;
  /** Hashes of lines that are known to have been there, by service: see `marks.ts`. */
  readonly marks: ReadonlyMap<string, string>;
  readonly look: Look;
  report(found: Break): void;
}

/** Processes that share a file may each have read the same line last, and there may be hundreds: so far back the line before may lie. */
const NEAR = 512;

/** A line as those behind it know it. */
interface NearLine {
  readonly hash: string;
  readonly signature: string;
}

/**
 * Reads a checkpoint file, and tells lines that nobody signed, that do not follow, or that are missing at the end. Of a line that is not
 * signed nothing is believed. What is no line of ours at all was half written when a process ended; were it more, what follows would tell.
 *
 * @throws where it cannot be read.
 */
export async function readCheckpoints(path: string, { keys, marks, look, report }: CheckpointReading): Promise<ReadCheckpoints> {
  const heads = new Map<string, SignedHead>();
  const comparison = createComparison(look);
  const restored: string[] = [];
  const near: NearLine[] = [];
  const missed = new Set([...marks].flatMap(([service, line]) => (keys.has(service) ? [line] : [])));
  let lines = 0;
  let until: string | undefined;
  for await (const line of linesOf(path)) {
    const at = `line ${++lines} of the checkpoints`;
    const checkpoint = parseCheckpointLine(line);
    if (checkpoint === undefined) continue;
    const known = { hash: hashOfLine(line), signature: signatureOf(checkpoint) };
    // Said once more, in whatever spelling, it says nothing: that a backup was restored, least of all.
    if (near.some(({ signature }) => signature === known.signature)) continue;
    const follows = near.length === 0 ? checkpoint.previous === '' : near.some(({ hash }) => hash === checkpoint.previous);
    if (!follows) report({ kind: 'checkpoint', detail: `${at} does not follow the one before: lines were edited, moved or taken away` });
    near.push(known);
    if (near.length > NEAR) near.shift();
    missed.delete(known.hash);
    const distrust = checkSigned(checkpoint, keys);
    if (distrust !== undefined) {
      report({ kind: 'signature', detail: `${at} ${distrust}` });
      continue;
    }
    keep(heads, checkpoint);
    await comparison.add(checkpoint.heads.map((head) => ({ ...head, at: checkpoint.at })));
    if (checkpoint.kind === 'restored') restored.push(checkpoint.at);
    until = checkpoint.at;
  }
  if (missed.size > 0)
    report({ kind: 'checkpoint', detail: 'the checkpoints end before one that the record knows: lines were taken away' });
  return { lines, until, known: toKnown(heads, await comparison.finish()), restored };
}

function checkSigned(checkpoint: Checkpoint, keys: PublicKeys): string | undefined {
  if (!keys.has(checkpoint.service)) return `is signed by a key that is not given: ${checkpoint.service.slice(0, 64)}`;
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

function keep(heads: Map<string, SignedHead>, { kind, at, heads: said }: Checkpoint): void {
  if (kind === 'restored') {
    const [first] = said;
    // As many chains as are named at most are, the newest: what is older stands as it stood.
    for (const writer of [...heads.keys()]) if (first === undefined || writer >= first.writer) heads.delete(writer);
  }
  for (const head of said) {
    const known = heads.get(head.writer);
    // That an entry was pruned says nothing of it that others did not know: where they knew another, theirs stands.
    if (known?.sequence === head.sequence && kind === 'cut') continue;
    if (known === undefined || known.sequence <= head.sequence) heads.set(head.writer, { ...head, at });
  }
}

/** Lines, one at a time; the last may have no end yet. */
async function* linesOf(path: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

/**
 * Appends a line, made of the hash of the one before it, and has it on the disk when it resolves; answers its hash. Nothing but appends: a
 * file system can be told to allow no more than that.
 */
export async function appendLine(path: string, make: (previous: string) => string): Promise<string> {
  makeFolder(dirname(path), 0o700);
  const file = await files.open(path, 'a+', 0o600);
  try {
    // Checkpoints in a device or a pipe cannot be read again.
    refuseSpecial(await file.stat());
    const { previous, isWhole } = await readEnd(file);
    const line = make(previous);
    await file.appendFile(`${isWhole ? '' : '\n'}${line}\n`);
    await file.sync();
    return hashOfLine(line);
  } finally {
    await file.close();
  }
}

const CHUNK = 65_536;

/** Hash of the last line of ours, empty where there is none; and whether the file ends with a line, or with half of one. */
async function readEnd(file: files.FileHandle): Promise<{ readonly previous: string; readonly isWhole: boolean }> {
  const { size } = await file.stat();
  let text = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(CHUNK, from);
    from -= length;
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
    text = Buffer.concat([buffer, text]);
    // The first may have begun before what was read.
    const lines = text
      .toString()
      .split('\n')
      .slice(from > 0 ? 1 : 0);
    const line = lines.findLast((each) => parseCheckpointLine(each) !== undefined);
    if (line !== undefined) return { previous: hashOfLine(line), isWhole: lines.at(-1) === '' };
  }
  return { previous: '', isWhole: size === 0 || text.at(-1) === 0x0a };
}
