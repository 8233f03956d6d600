// Lists files for the scripts that run before the program. Plain JavaScript for Node.js 18, like setup.mjs.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Lists the files below a folder, in an order that is the same on every machine. */
export function listFiles(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(root, path) : [path];
  });
}
