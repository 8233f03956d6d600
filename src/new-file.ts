/** Creates files without replacing existing ones. */
import { closeSync, linkSync, openSync, renameSync, unlinkSync } from 'node:fs';

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Gives a completely written file its name. Creating a hard link is atomic, so of two processes that write the same name, neither
 * replaces the file of the other.
 *
 * @throws the error of the system, EEXIST where there is a file of this name.
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
