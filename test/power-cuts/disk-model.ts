/**
 * A model of a disk. It keeps what is synced apart from what is only written, and returns states in which a power cut can leave the disk. As in
 * POSIX, the sync of a file does not cover its name: only the sync of a folder covers the entries of that folder.
 */
import { posix } from 'node:path';
import type { FileEvent } from './file-events.ts';

/** A change of a file that is not synced yet. */
type Change = WriteChange | SizeChange;

interface WriteChange {
  /** Number of the event. */
  readonly at: number;
  /** True after a failed sync: Linux does not write the change again, so that a later sync succeeds without it. */
  readonly isDropped?: boolean;
  readonly offset: number;
  readonly bytes: Buffer;
}

interface SizeChange extends Pick<WriteChange, 'at' | 'isDropped'> {
  readonly size: number;
}

interface ModelFile {
  synced: Buffer;
  changes: readonly Change[];
  /** Length with all changes. */
  length: number;
}

/** A folder. Its entries have names of their own. */
const FOLDER: unique symbol = Symbol('a folder');

/** The meaning of a name; undefined if there is none. */
type Entry = ModelFile | typeof FOLDER | undefined;

/** The files or folders that a name had since the last sync of its folder, the synced one first. */
type EntryVersions = readonly { readonly at: number; readonly file: Entry }[];

/** Says which of the changes since the last sync a power cut leaves. */
export interface Survival {
  readonly name: string;
  /** Returns the changes that reached the disk, in the order in which they did. */
  keep(changes: readonly Change[], random: () => number): readonly Change[];
  /** Returns the index of the version of an entry of the folder that reached the disk; 0 is the synced one. */
  version(count: number, random: () => number): number;
}

const any = (count: number, random: () => number): number => Math.floor(random() * count);

/** Leaves everything, as a process that is killed does. */
export const ALL_WRITTEN: Survival = { name: 'all that was written', keep: (changes) => changes, version: (count) => count - 1 };

/** The ways in which a power cut leaves changes that are not synced. */
export const SURVIVALS: readonly Survival[] = [
  { name: 'nothing that was not synced', keep: () => [], version: () => 0 },
  ALL_WRITTEN,
  { name: 'the first writes, the last of them torn', keep: keepBeginning, version: any },
  { name: 'any sectors of 512 bytes, in any order', keep: (changes, random) => keepSome(changes, { size: 512, random }), version: any },
  { name: 'any blocks of 4 KiB, in any order', keep: (changes, random) => keepSome(changes, { size: 4096, random }), version: any },
  { name: 'contents without entries of the folder', keep: (changes) => changes, version: () => 0 },
];

/** A disk. Its uppermost folder has the path `''`. */
export interface Disk {
  apply(event: FileEvent, at: number): void;
  /** Returns the files after a power cut. */
  cut(survival: Survival, random: () => number): ReadonlyMap<string, Buffer>;
}

/** Creates a disk with these files, and with their folders. */
export function createDisk(files: ReadonlyMap<string, Buffer> = new Map()): Disk {
  const entries = new Map<string, EntryVersions>();
  for (const [path, synced] of files) {
    entries.set(path, [{ at: -1, file: { ...emptyFile(), synced, length: synced.length } }]);
    for (const folder of foldersOf(path)) entries.set(folder, [{ at: -1, file: FOLDER }]);
  }

  const entryAt = (path: string): Entry => (path === '' ? FOLDER : entries.get(path)?.at(-1)?.file);
  const fileAt = (path: string): ModelFile => {
    const file = entryAt(path);
    if (file === undefined || file === FOLDER) throw new Error(`expected a file at ${path}`);
    return file;
  };
  function setEntry(path: string, file: Entry, at: number): void {
    entries.set(path, [...(entries.get(path) ?? [{ at: -1, file: undefined }]), { at, file }]);
  }

  function sync(path: string, begin: number): void {
    if (entryAt(path) === FOLDER) {
      for (const [name, versions] of entries) {
        if (folderOf(name) !== path) continue;
        const last = versions.findLastIndex(({ at }) => at < begin);
        entries.set(name, versions.slice(Math.max(0, last)));
      }
      return;
    }
    const file = fileAt(path);
    file.synced = applyChanges(
      file.synced,
      file.changes.filter(({ at, isDropped = false }) => at < begin && !isDropped),
    );
    file.changes = file.changes.filter(({ at }) => at >= begin);
  }

  function failSync(path: string, begin: number): void {
    // Entries of a folder stay in the journal of the file system, which a later sync writes.
    if (entryAt(path) === FOLDER) return;
    const file = fileAt(path);
    file.changes = file.changes.map((each) => (each.at < begin ? { ...each, isDropped: true } : each));
  }

  return {
    apply(event, at) {
      switch (event.kind) {
        case 'sync':
          return sync(event.path, event.begin);
        case 'failedSync':
          return failSync(event.path, event.begin);
        case 'create':
          return entryAt(event.path) === undefined ? setEntry(event.path, emptyFile(), at) : undefined;
        case 'mkdir':
          return setEntry(event.path, FOLDER, at);
        case 'write':
        case 'truncate':
          return change(fileAt(event.path), event, at);
        case 'link':
          return setEntry(event.to, fileAt(event.from), at);
        case 'rename':
          setEntry(event.to, fileAt(event.from), at);
          return setEntry(event.from, undefined, at);
        case 'unlink':
          return setEntry(event.path, undefined, at);
        case 'response':
      }
    },
    cut(survival, random) {
      const left = new Map<string, Entry>();
      for (const [path, versions] of entries) left.set(path, versions[survival.version(versions.length, random)]?.file);
      const files = new Map<string, Buffer>();
      for (const [path, file] of left) {
        if (file === undefined || file === FOLDER || !foldersOf(path).every((folder) => left.get(folder) === FOLDER)) continue;
        files.set(path, applyChanges(file.synced, survival.keep(file.changes, random)));
      }
      return files;
    },
  };
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}

/** Returns the folders that a path leads through, without the uppermost one. */
function foldersOf(path: string): readonly string[] {
  const folder = folderOf(path);
  return folder === '' ? [] : [...foldersOf(folder), folder];
}

function emptyFile(): ModelFile {
  return { synced: Buffer.alloc(0), changes: [], length: 0 };
}

function change(file: ModelFile, event: FileEvent & { readonly kind: 'write' | 'truncate' }, at: number): void {
  if (event.kind === 'truncate') {
    file.changes = [...file.changes, { at, size: event.size }];
    file.length = event.size;
  } else {
    const { offset = file.length, bytes } = event;
    file.changes = [...file.changes, { at, offset, bytes }];
    file.length = Math.max(file.length, offset + bytes.length);
  }
}

/** Returns the content with the changes. Bytes that none of them wrote are zero. */
function applyChanges(synced: Buffer, changes: readonly Change[]): Buffer {
  const ends = changes.map((each) => ('size' in each ? each.size : each.offset + each.bytes.length));
  const content = Buffer.alloc(Math.max(synced.length, ...ends));
  synced.copy(content);
  let { length } = synced;
  for (const each of changes) {
    if ('size' in each) {
      content.fill(0, Math.min(length, each.size));
      length = each.size;
    } else {
      each.bytes.copy(content, each.offset);
      length = Math.max(length, each.offset + each.bytes.length);
    }
  }
  return content.subarray(0, length);
}

function keepBeginning(changes: readonly Change[], random: () => number): readonly Change[] {
  const kept = changes.slice(0, any(changes.length + 1, random));
  const last = kept.at(-1);
  if (last === undefined || 'size' in last) return kept;
  const sectors = split(last, 512);
  return [...kept.slice(0, -1), ...sectors.slice(0, any(sectors.length + 1, random))];
}

interface Tearing {
  readonly size: number;
  readonly random: () => number;
}

function keepSome(changes: readonly Change[], { size, random }: Tearing): readonly Change[] {
  // Half of the states keep most pieces, so that few are missing.
  const share = random() < 0.5 ? random() : 0.95;
  return changes
    .flatMap((each) => ('size' in each ? [each] : split(each, size)))
    .filter(() => random() < share)
    .map((each) => ({ each, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ each }) => each);
}

/** Splits a write at the borders of the sectors of the disk. */
function split(write: WriteChange, size: number): readonly Change[] {
  const pieces: Change[] = [];
  const end = write.offset + write.bytes.length;
  for (let from = write.offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / size) + 1) * size);
    pieces.push({ at: write.at, offset: from, bytes: write.bytes.subarray(from - write.offset, to - write.offset) });
    from = to;
  }
  return pieces;
}
