import type { Source } from './source.ts';

/** What the map of ARCHITECTURE.md leaves out, and what it names that is not there, each in a sentence. */
export function checkMap(markdown: string, sources: readonly Source[]): readonly string[] {
  const said = readMap(markdown);
  const there = sources.filter(({ isTest, path }) => !isTest && !path.endsWith('/index.ts')).map(({ path }) => path.replace(/\.ts$/, ''));
  return [
    ...there.filter((path) => !said.has(path)).map((path) => `ARCHITECTURE.md: say where src/${path}.ts is, in the row of its folder`),
    ...[...said].filter((path) => !there.includes(path)).map((path) => `ARCHITECTURE.md: there is no src/${path}.ts any more, take it out`),
  ];
}

/** Rows are | `folder/` | `file` words · `file`, `file` words |; what is no file is not written like one: `/api`, `Call`. */
function readMap(markdown: string): ReadonlySet<string> {
  const rows = markdown.matchAll(/^\| `([a-z/]+\/)` \| (.+) \|$/gm);
  return new Set(
    [...rows]
      .filter(([, folder = '']) => !/^(test|bench)\//.test(folder))
      .flatMap(([, folder = '', files = '']) =>
        [...files.matchAll(/`([a-z][a-z0-9-]*)`/g)].map(([, file = '']) => `${folder === 'src/' ? '' : folder}${file}`),
      ),
  );
}
