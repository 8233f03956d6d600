/** Files that are made and replace none. */
import { closeSync, linkSync, openSync, renameSync, unlinkSync } from 'node:fs';

/** Answers of file systems that have no hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Gives a file that is written whole its name. The link is made or refused at once, so of two processes that write one name, neither
 * replaces what the other wrote.
 *
 * @throws the error of the system, EEXIST where there is a file of this name.
 */
export function moveToNewFile(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
    // Taken first, then replaced: in between, the file of this name is empty.
    closeSync(openSync(file, 'wx', 0o600));
    renameSync(part, file);
    return;
  }
  unlinkSync(part);
}
