import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importRules } from './tidy/import-rules.ts';
import { readLayers } from './tidy/layers.ts';
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
  const layers = readLayers(readFileSync(folderUrl('../ARCHITECTURE.md'), 'utf8'));
  const sources = readSources(folderUrl('../src'));

  it.each(rules)('keep to $name', (rule) => {
    expect(findAll(sources, [rule], layers).map(show)).toEqual([]);
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
