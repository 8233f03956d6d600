import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkFaces } from './tidy/faces.ts';
import { importRules } from './tidy/import-rules.ts';
import { readLayers } from './tidy/layers.ts';
import { checkMap } from './tidy/map.ts';
import { type Finding, findAll } from './tidy/rule.ts';
import { shapeRules } from './tidy/shape-rules.ts';
import { readSource, readSources } from './tidy/source.ts';
import { wordRules } from './tidy/word-rules.ts';

const rules = [...importRules, ...shapeRules, ...wordRules];

function folderUrl(path: string): string {
  return new URL(path, import.meta.url).pathname;
}

function show({ path, line, rule, sentence }: Finding): string {
  return `${path}:${line} ${rule}: ${sentence}`;
}

describe('sources', () => {
  const architecture = readFileSync(folderUrl('../ARCHITECTURE.md'), 'utf8');
  const layers = readLayers(architecture);
  const sources = readSources(folderUrl('../src'));

  it.each(rules)('keep to $name', (rule) => {
    expect(findAll(sources, [rule], layers).map(show)).toEqual([]);
  });

  it('export from a face only what somebody outside imports', () => {
    const users = ['test', 'scripts', 'bench'].flatMap((folder) => readSources(folderUrl(`../${folder}`), `${folder}/`));
    expect(checkFaces(sources, users)).toEqual([]);
  });

  it('are told of a face that exports what nobody imports', () => {
    const face = readSource('walk/index.ts', "export { stay, step, type Way } from './walk.ts';");
    const said = 'walk/index.ts: nobody outside imports stay, take it out';
    for (const text of ["import { step } from '../src/walk/index.ts';", "(await import('../src/walk/index.ts')).step();"])
      expect(checkFaces([face], [readSource('test/a.test.ts', text)])).toEqual([said]);
  });

  it('stand in the map of ARCHITECTURE.md, all of them and no others', () => {
    expect(checkMap(architecture, sources)).toEqual([]);
  });

  it('are missed there, where one is new or gone', () => {
    expect(checkMap('| `walk/` | `gone`, which is no `Walk` |', [readSource('walk/new.ts', '')])).toEqual([
      'ARCHITECTURE.md: say where src/walk/new.ts is, in the row of its folder',
      'ARCHITECTURE.md: there is no src/walk/gone.ts any more, take it out',
    ]);
  });
});

/** The fixture is a small project in which each line that breaks a rule says so: `// breaks layer, face`. */
describe('the rules themselves', () => {
  const fixture = folderUrl('fixtures/tidy/');
  const layers = readLayers(readFileSync(`${fixture}ARCHITECTURE.md`, 'utf8'));
  const sources = readSources(`${fixture}src`);
  const findings = findAll(sources, rules, layers);

  it('find every line of the fixture that says it breaks one, and no other', () => {
    const expected = sources.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => namesAfterBreaks(line).map((rule) => `${path}:${index + 1} ${rule}`)),
    );
    expect(findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`).sort()).toEqual(expected.sort());
  });

  it('are each broken by the fixture, or by a file too long to keep', () => {
    const tooLong = readSource('store/long.ts', '//\n'.repeat(301));
    const broken = new Set([...findings, ...findAll([tooLong], rules, layers)].map(({ rule }) => rule));
    expect(rules.map(({ name }) => name).filter((name) => !broken.has(name))).toEqual([]);
  });

  it('allow 300 lines', () => {
    expect(findAll([readSource('store/long.ts', '//\n'.repeat(300))], rules, layers)).toEqual([]);
  });

  it('say what to do instead', () => {
    expect(findings.map(show)).toContain(
      'rules/walk.ts:2 layer: rules (layer 1) must not import store (layer 4), imports point down: receive what you need as an argument, or move it down',
    );
  });

  it('refuse a document without a layer table', () => {
    expect(() => readLayers('# Nothing\n\n| a | b |\n|---|---|\n')).toThrow('no layer table');
  });
});

function namesAfterBreaks(line: string): readonly string[] {
  return line.match(/\/\/ breaks (.+)$/)?.[1]?.split(', ') ?? [];
}
