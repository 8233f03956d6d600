import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { consoleRules } from './tidy/console-rules.ts';
import { constructRules } from './tidy/construct-rules.ts';
import { findUndescribedFolders } from './tidy/folders.ts';
import { findUnusedPermissions, importRules } from './tidy/import-rules.ts';
import { parseLayers } from './tidy/layers.ts';
import { nameRules } from './tidy/name-rules.ts';
import { findRefusedWords, proseRules } from './tidy/prose-rules.ts';
import { type Finding, findAll } from './tidy/rule.ts';
import { shapeRules } from './tidy/shape-rules.ts';
import { loadSources, parseSource } from './tidy/source.ts';
import { titleRules } from './tidy/title-rules.ts';
import { findUnusedExports } from './tidy/unused-exports.ts';

const rules = [...importRules, ...nameRules, ...shapeRules, ...constructRules, ...proseRules, ...titleRules];

/** The text of the Contributor Covenant. */
const QUOTED_PAGE = 'CODE_OF_CONDUCT.md';

function folderUrl(path: string): string {
  return new URL(path, import.meta.url).pathname;
}

function show({ path, line, rule, sentence }: Finding): string {
  return `${path}:${line} ${rule}: ${sentence}`;
}

describe('sources', () => {
  const architecture = readFileSync(folderUrl('../ARCHITECTURE.md'), 'utf8');
  const layers = parseLayers(architecture);
  const sources = loadSources(folderUrl('../src'));
  const users = ['test', 'scripts', 'bench'].flatMap((folder) => loadSources(folderUrl(`../${folder}`), `${folder}/`));

  const written = users.filter(({ path }) => !path.startsWith('test/fixtures/tidy/'));
  const all = [...sources.map((source) => ({ ...source, path: `src/${source.path}` })), ...written];

  it.each(rules.filter((rule) => !titleRules.includes(rule)))('sources keep to the rule $name', (rule) => {
    expect(findAll(sources, [rule], layers).map(show)).toEqual([]);
  });

  it.each(proseRules)('tests, scripts and benchmarks keep to the rule $name', (rule) => {
    expect(findAll(written, [rule], layers).map(show)).toEqual([]);
  });

  it.each(titleRules)('titles of tests keep to the rule $name', (rule) => {
    expect(findAll(all, [rule], layers).map(show)).toEqual([]);
  });

  it('sources export only values that another file imports', () => {
    expect(findUnusedExports(sources, users)).toEqual([]);
  });

  it('sources need every package of the layer table', () => {
    expect(findUnusedPermissions(sources, layers)).toEqual([]);
  });

  it('sources exist for every module of the layer table', () => {
    expect(layers.modules.filter((module) => !sources.some(({ path }) => layers.moduleOf(path) === module))).toEqual([]);
  });

  it('sources include a pure decision, pure operators and pure fields', () => {
    const pure = layers.modules.filter(layers.isPure).map((module) => module.split('/').at(-1));
    expect(pure).toEqual(expect.arrayContaining(['decision', 'operators', 'fields']));
  });

  it('sources lie in folders that ARCHITECTURE.md describes', () => {
    expect(findUndescribedFolders(architecture, sources, layers)).toEqual([]);
  });
});

describe('the console', () => {
  const layers = parseLayers(readFileSync(folderUrl('../ARCHITECTURE.md'), 'utf8'));
  const sources = loadSources(folderUrl('../console/src'), 'console/src/');

  it.each(consoleRules)('the console keeps to the rule $name', (rule) => {
    expect(findAll(sources, [rule], layers).map(show)).toEqual([]);
  });

  it('the console is refused for an import from the service, and for words of an element', () => {
    const text = readFileSync(folderUrl('fixtures/tidy/console-page.txt'), 'utf8');
    const findings = findAll([parseSource('console/src/page.tsx', text)], consoleRules, layers);
    expect(findings.map(({ line, rule }) => `${line} ${rule}`)).toEqual(['3 docstring', '4 plain-words', '1 service-import']);
  });
});

describe('the client', () => {
  const layers = parseLayers(readFileSync(folderUrl('../ARCHITECTURE.md'), 'utf8'));
  const sources = loadSources(folderUrl('../client'), 'client/');

  it.each(consoleRules)('the client keeps to the rule $name', (rule) => {
    expect(findAll(sources, [rule], layers).map(show)).toEqual([]);
  });
});

describe('pages and examples', () => {
  const root = folderUrl('../');
  const patterns = ['*.md', 'docs/**/*.md', 'examples/**/*.{md,yaml}'];
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).filter((path) => path !== QUOTED_PAGE);

  it.each(paths.sort())('the words of %s are plain', (path) => {
    expect(findRefusedWords(path, readFileSync(`${root}${path}`, 'utf8')).map(show)).toEqual([]);
  });

  it('a page is refused for a word on any line, or on two', () => {
    const fixture = (name: string): string => readFileSync(folderUrl(`fixtures/tidy/refused-words.${name}`), 'utf8');
    expect(findRefusedWords('README.md', fixture('md')).map(show)).toEqual(fixture('txt').trimEnd().split('\n'));
  });
});

/** In the fixture, a small project, each line that breaks rules names them: `// breaks layer, package`. */
describe('rules', () => {
  const fixture = folderUrl('fixtures/tidy/');
  const layers = parseLayers(readFileSync(`${fixture}ARCHITECTURE.md`, 'utf8'));
  const sources = loadSources(`${fixture}src`);
  const findings = findAll(sources, rules, layers);

  it('the rules report exactly the lines of the fixture that name them', () => {
    const expected = sources.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => namesAfterBreaks(line).map((rule) => `${path}:${index + 1} ${rule}`)),
    );
    expect(findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`).sort()).toEqual(expected.sort());
  });

  it('each rule is broken by the fixture or by a file of 301 lines', () => {
    const tooLong = parseSource('store/long.ts', '//\n'.repeat(301));
    const broken = new Set([...findings, ...findAll([tooLong], rules, layers)].map(({ rule }) => rule));
    expect(rules.map(({ name }) => name).filter((name) => !broken.has(name))).toEqual([]);
  });

  it('the rules accept a file of 300 lines', () => {
    expect(findAll([parseSource('store/long.ts', '//\n'.repeat(300))], rules, layers)).toEqual([]);
  });

  it('the rules suggest a replacement', () => {
    expect(findings.map(show)).toContain(
      'rules/walk.ts:2 layer: rules (layer 1) must not import store (layer 4), imports point down: receive what you need as an argument, or move it down',
    );
  });

  it('the rules report packages of the layer table that no file imports', () => {
    const unused = ['store imports pg', 'storage imports pg', 'storage imports node:crypto'];
    const scoped = ['words imports @fastify/*', 'unindexed imports @fastify/*'];
    expect(findUnusedPermissions(sources, layers)).toEqual(
      [...unused, ...scoped].map((text) => `ARCHITECTURE.md: no file of ${text}, remove it from the layer table`),
    );
  });

  it('the rules report a folder that no paragraph, list item or row begins with', () => {
    const described =
      '| `rules/` | what it does |\n- `src/store/`, `words/`, `api/`: each\n**`utils/`** and `unindexed/`: `main` and `store/format/`';
    expect(findUndescribedFolders(described, sources, layers)).toEqual(
      ['rules/deep', 'storage', 'store/format'].map(
        (folder) => `ARCHITECTURE.md: describe \`${folder}/\` in a paragraph that begins with its name`,
      ),
    );
  });

  it.each(['stay', 'step'])('the rules report an export %s that no other file imports', (unused) => {
    const exporting = [
      parseSource('rules/deep/index.ts', "export { stay, step, type Way } from './walk.ts';"),
      parseSource('rules/deep/walk.ts', 'export function stay() {}\nexport const step = 1;\nexport type Way = number;'),
    ];
    const used = unused === 'stay' ? 'step' : 'stay';
    for (const text of [
      `import { ${used} } from '../src/rules/deep/index.ts';`,
      `import * as deep from '../src/rules/deep/index.ts';\ndeep.${used}();`,
      `(await import('../src/rules/deep/index.ts')).${used}();`,
      `const { ${used} } = await import('../src/rules/deep/index.ts');`,
    ])
      expect(findUnusedExports(exporting, [parseSource('test/a.test.ts', text)])).toEqual([
        `rules/deep/index.ts: no other file imports ${unused}, remove the export`,
      ]);
    const others = exporting.slice(1);
    expect(findUnusedExports(others, [parseSource('test/a.test.ts', `import { ${used} } from '../src/rules/deep/walk.ts';`)])).toEqual([
      `rules/deep/walk.ts: no other file imports ${unused}, remove the export`,
    ]);
  });
});

describe('the layer table', () => {
  it.each([
    ['no row', '# Nothing\n\n| a | b |\n|---|---|\n', 'no layer table'],
    ['eleven rows', Array.from({ length: 11 }, (_, index) => `| ${11 - index} | \`m${index}\` | |`).join('\n'), '11 rows'],
    ['a fraction', '| 2.5 | `a` | |', 'layer 2.5'],
    ['a row above a greater number', '| 1 | `a` | |\n| 2 | `b` | |', 'layer 2'],
    ['two rows of the same number', '| 1 | `a` | |\n| 1 | `b` | |', 'layer 1'],
    ['a module in two rows', '| 2 | `a` | |\n| 1 | `a` | |', 'a twice'],
    ['packages for a path of another row', '| 2 | `a` | in `b/c` also `pg` |\n| 1 | `b` | |', 'in b/c,'],
    ['a pure module that it does not list', '| 1 | `a` | pure: `b` |', 'the module b,'],
    ['a restricted module that it does not list', '| 1 | `a` | |\n\n`b` is read by `a` alone', 'the module b,'],
  ])('refuses a layer table with %s', (_, markdown, message) => {
    expect(() => parseLayers(markdown)).toThrow(message);
  });

  it('gives a path to the longest module that contains it', () => {
    const { moduleOf } = parseLayers('| 1 | `a`, `a/b`, `a/b/c`, `d` | |');
    const paths = ['a/x.ts', 'a/bc.ts', 'a/b/x/y.ts', 'a/b/c.ts', 'a/b/c.test.ts', 'a/b.ts', 'd.ts', 'd.fixture.ts', 'e/f.ts', 'e.test.ts'];
    expect(paths.map(moduleOf)).toEqual(['a', 'a', 'a/b', 'a/b/c', 'a/b/c', 'a/b', 'd', 'd', 'e', 'e']);
  });

  it('accepts a layer table of ten rows', () => {
    const rows = Array.from({ length: 10 }, (_, index) => `| ${9 - index} | \`m${index}\` | |`);
    expect(parseLayers(rows.join('\n')).modules).toHaveLength(10);
  });
});

function namesAfterBreaks(line: string): readonly string[] {
  return line.match(/\/\/ breaks (.+)$/)?.[1]?.split(', ') ?? [];
}
