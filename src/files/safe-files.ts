/** Reads files, and creates files and folders at configured paths. Only regular files are read, so that a device or a pipe cannot block the service. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

/** An error for a path that is refused. The message has the reason, without any content of the file. */
export class RefusedPath extends Error {
  override name = 'RefusedPath';
}

/** The flag that opens a named pipe without waiting for a writer; 0 on Windows, which has no such flag. */
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/**
 * Returns the content of a regular file. Devices and named pipes, which may never end, and files with more than `mostBytes` bytes are
 * refused unread.
 *
 * @throws RefusedPath, or the error of the system call.
 */
export function readRegularFile(path: string, mostBytes: number): Buffer {
  // Checked before opening the file: opening a device may already have an effect.
  refuseSpecial(statSync(path));
  const file = openSync(path, constants.O_RDONLY | NO_WAIT);
  try {
    const found = fstatSync(file);
    refuseSpecial(found);
    if (found.size > mostBytes) throw new RefusedPath(`expected at most ${mostBytes} bytes, found ${found.size}`);
    return readUpTo(file, mostBytes);
  } finally {
    closeSync(file);
  }
}

/** Throws RefusedPath for anything but a regular file. */
export function refuseSpecial(found: Stats): void {
  if (!found.isFile()) throw new RefusedPath(`expected a file, found ${kindOf(found)}`);
}

/** Reads a file to its end, ignoring the reported size, which is wrong if the file grows or the system generates its content. */
function readUpTo(file: number, mostBytes: number): Buffer {
  const content = Buffer.alloc(mostBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length <= mostBytes; length += read)
    read = readSync(file, content, length, mostBytes + 1 - length, null);
  if (length > mostBytes) throw new RefusedPath(`expected at most ${mostBytes} bytes, found more`);
  return content.subarray(0, length);
}

/**
 * Creates a folder and its parents, and syncs their names to the disk. Node's `recursive` option never ends on a file system such as `/proc`, which reports that the parent of
 * a new folder does not exist although it does.
 *
 * @throws RefusedPath
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Another process may have created the folder first.
      if (errorCode(error) !== 'EEXIST' || !isFolder(folder))
        throw new RefusedPath(`cannot make the folder ${folder}: ${errorCode(error)}`);
    }
    syncFolder(dirname(folder));
  }
}

/** Error codes with which systems refuse to sync a folder: of other users, on some network file systems, and on Windows. */
const NO_FOLDER_SYNC: ReadonlySet<string> = new Set(['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM']);

/**
 * Syncs the entries of a folder to the disk. The sync of a file does not cover its name: after a power cut, a new file whose folder was not
 * synced may be gone.
 *
 * @throws the error of the system call, such as EIO. A folder that the system cannot sync is left as it is.
 */
export function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    fsyncSync(folder);
  } catch (error) {
    if (!NO_FOLDER_SYNC.has(errorCode(error))) throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/** Returns true for a folder, and false if the path does not exist. Throws RefusedPath for anything else. */
function isFolder(path: string): boolean {
  const found = findFile(path);
  if (found?.isDirectory() === false) throw new RefusedPath(`expected a folder, found ${kindOf(found)} at ${path}`);
  return found !== undefined;
}

/**
 * Returns the status of the file that a path and its links lead to; undefined if none exists.
 *
 * @throws RefusedPath for a link to a missing file or a circle of links, and if the system refuses to follow the path.
 */
export function findFile(path: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return found;
    // Other than a link, this is a file that another process has created in the meantime.
    const created = lstatSync(path, { throwIfNoEntry: false });
    if (created?.isSymbolicLink() !== true) return created;
  } catch (error) {
    // Throws for the file that is in place of a folder.
    if (errorCode(error) === 'ENOTDIR') isFolder(dirname(path));
    throw new RefusedPath(`cannot look at ${path}: ${errorCode(error)}`);
  }
  throw new RefusedPath(`${path} is a link to something that does not exist`);
}

function kindOf(found: Stats): string {
  if (found.isFile()) return 'a file';
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

/** Returns the code of a system error, such as `ENOENT`, or the message of any other error. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}

/** Error codes with which file systems without hard links refuse `link`. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Renames the completely written file `part` to `file`, unless `file` exists. Creating a hard link is atomic, so of two processes that write
 * the same name, neither replaces the file of the other.
 *
 * @throws the error of the system call, with the code EEXIST if `file` exists.
 */
export function moveToNewFile(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
    // Reserves the name with an empty file, then replaces that file.
    closeSync(openSync(file, 'wx', 0o600));
    renameSync(part, file);
    return;
  }
  unlinkSync(part);
}
