import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder with its content if it does not exist. `fill` writes to a temporary folder beside it, which is renamed when it is
 * complete, so that processes which create the same folder at once do not disturb each other.
 */
export async function createFolderOnce(folder: string, fill: (temporary: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    await fill(temporary);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process has created the folder in the meantime.
    if (!existsSync(folder)) throw error;
  }
}
