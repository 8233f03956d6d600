import { dirname } from 'node:path/posix';
import type { Layers } from './layers.ts';
import type { Source } from './source.ts';

/**
 * Returns a sentence for each folder of the sources that ARCHITECTURE.md does not describe. A folder is described by a
 * paragraph, a list item or a table row that begins with its name: `` `storage/` ``, or with several names separated by
 * commas. Folders that have an `index.ts` or are modules of the layer table need such a description.
 */
export function findUndescribedFolders(markdown: string, sources: readonly Source[], { modules }: Layers): readonly string[] {
  const described = describedFolders(markdown);
  const indexed = sources.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => dirname(path));
  const listed = modules.filter((module) => sources.some(({ path }) => path.startsWith(`${module}/`)));
  return [...new Set([...indexed, ...listed])]
    .sort()
    .filter((folder) => !described.has(folder))
    .map((folder) => `ARCHITECTURE.md: describe \`${folder}/\` in a paragraph that begins with its name`);
}

function describedFolders(markdown: string): ReadonlySet<string> {
  const beginnings = markdown.matchAll(/^[|*#\- ]*(`[^`]+\/`(?:\**(?:, | and )`[^`]+\/`)*)/gm);
  return new Set(
    [...beginnings].flatMap(([, names = '']) => [...names.matchAll(/`(?:src\/)?([^`]+)\/`/g)].map(([, folder = '']) => folder)),
  );
}
