import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printMistake } from './definition-mistake.ts';
import { loadYamlFiles, placeMistake } from './load-yaml-files.ts';
import { parseDefinition } from './parse-definition.ts';

let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'bailiwick-definitions-')), 'resources');
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

function write(name: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, name), content);
}

/** Returns every mistake in the files and in their definitions, as printed. */
function mistakes(): string[] {
  const loaded = loadYamlFiles(folder, { kind: 'definition' });
  const parsed = loaded.files.flatMap((raw) => parseDefinition(raw.source).mistakes.map((mistake) => placeMistake(raw, mistake)));
  return [...loaded.mistakes, ...parsed].map(printMistake);
}

describe('loadYamlFiles', () => {
  it('reads the YAML and JSON files of the folder in the order of their names, and ignores other files', () => {
    write('b.yaml', 'name: B\nfields:\n  a: { type: string }\n');
    write('a.json', '{\n\t"name": "A",\n\t"fields": { "a": { "type": "string" } }\n}\n');
    write('c.YML', 'name: C\nfields: { a: { type: string } }');
    write('.hidden.yaml', 'nonsense: [');
    write('notes.txt', 'nonsense: [');
    mkdirSync(join(folder, 'folder.yaml'));
    const { files, mistakes: found } = loadYamlFiles(folder, { kind: 'definition' });
    expect(found).toEqual([]);
    expect(files.map(({ file }) => file)).toEqual(['resources/a.json', 'resources/b.yaml', 'resources/c.YML']);
    expect(files[0]?.source).toEqual({ name: 'A', fields: { a: { type: 'string' } } });
  });

  it('reports file, line and column of every mistake in every file', () => {
    write(
      'a.yaml',
      ['name: Article', 'fields:', '  title:', '    type: string', '    maxLenght: 5', '  views: { type: integr, required: 1 }', ''].join(
        '\n',
      ),
    );
    write('b.json', '{ "name": "batch",\n  "fields": { "x": { "type": "enum", "values": [] } } }');
    expect(mistakes().map((mistake) => mistake.split(': ')[0])).toEqual([
      'resources/a.yaml:5:5 fields.title.maxLenght',
      'resources/a.yaml:6:18 fields.views.type',
      'resources/a.yaml:6:36 fields.views.required',
      'resources/b.json:1:11 name',
      'resources/b.json:2:48 fields.x.values',
    ]);
  });

  it('suggests options for misspelt ones in the message', () => {
    write('a.yaml', 'name: A\nfields:\n  x: { typ: string, requird: true, unique: 1 }\n');
    expect(mistakes()).toEqual([
      expect.stringMatching(/^resources\/a.yaml:3:6 fields.x: /),
      expect.stringMatching(/^resources\/a.yaml:3:8 fields.x.typ: .*did you mean "type"/),
      expect.stringMatching(/^resources\/a.yaml:3:21 fields.x.requird: .*did you mean "required"/),
      expect.stringMatching(/^resources\/a.yaml:3:44 fields.x.unique: /),
    ]);
  });

  it('reports a missing member at the object that lacks it', () => {
    write('a.yaml', '# a comment\n\nname: A\nfields:\n  x:\n    required: true\n');
    expect(mistakes()).toEqual([expect.stringMatching(/^resources\/a.yaml:6:5 fields.x: /)]);
  });

  it('reports a mistake in an aliased value at the value and at the alias', () => {
    write('a.yaml', 'name: A\nfields:\n  x: &x { type: strng }\n  y: *x\n');
    expect(mistakes()).toEqual([
      expect.stringMatching(/^resources\/a.yaml:3:17 fields.x.type: unknown type/),
      expect.stringMatching(/^resources\/a.yaml:4:6 fields.y.type: unknown type/),
    ]);
  });

  const bomb = ['a0: &a0 [x, x]', ...Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)].join('\n');

  it.each<[name: string, content: string | Uint8Array, message: RegExp]>([
    ['a duplicate key', 'name: A\nname: B\n', /a.yaml:2:1 "name" was given twice$/],
    [
      'three documents',
      'name: A\n---\nname: B\n---\nname: C\n',
      /a.yaml:2:1 expected one document, found another after ---: put each resource into a file of its own$/,
    ],
    [
      'a merge key',
      'name: A\nfields:\n  a: &a { type: string }\n  b: { <<: *a, required: true }\n',
      /a.yaml:4:8 merge keys \(<<\) are not supported: repeat the members, or use an alias for a whole value$/,
    ],
    ['a tag', 'name: !!js/function x\n', /a.yaml:1:7 unresolved tag/],
    [
      'an alias without an anchor',
      'name: A\nfields:\n  a: *nothing\n',
      /a.yaml:3:6 unresolved alias "nothing": a text that begins with \* needs quotes$/,
    ],
    ['a star without quotes', 'name: A\naction: *\n', /a.yaml:2:\d+ a text that begins with \* needs quotes: "\*"$/],
    ['an alias bomb', bomb, /excessive alias count/],
    ['100,000 levels', '['.repeat(100_000), /expected fewer levels of nesting/],
    ['a list as a key', '? [a]\n: b\n', /a.yaml:1:3 .*keys must be strings/],
    ['a file of 1 MB', `name: ${'x'.repeat(1_000_001)}`, /a.yaml expected at most 1000000 bytes/],
    ['Latin-1', Uint8Array.from([0x6e, 0xe9]), /expected UTF-8 text/],
    ['an empty file', '', /a.yaml:1:1 expected an object with name and fields, given null/],
    ['a wrong indentation', 'a:\n  - b\n c: d\n', /a.yaml:3:1 all mapping items must start/],
  ])('refuses a definition file: %s', (_name, content, message) => {
    write('a.yaml', content);
    expect(mistakes()[0]).toMatch(message);
  });

  it.each([
    ['policy', 'put several policies into the list policies'],
    ['test', 'put all tests into the list tests'],
  ] as const)('says where the documents of a %s file belong', (kind, advice) => {
    write('a.yaml', 'name: A\n---\nname: B\n');
    const { mistakes: found } = loadYamlFiles(folder, { kind });
    expect(found).toMatchObject([{ detail: `expected one document, found another after ---: ${advice}` }]);
  });

  it('reports a merge key alone, and takes a quoted << for a name', () => {
    write('a.yaml', 'name: A\nfields:\n  a: &a { type: string }\n  b: { <<: *a }\n');
    expect(mistakes()).toHaveLength(1);
    write('a.yaml', '{ "<<": 1 }');
    expect(loadYamlFiles(folder, { kind: 'definition' }).files.map(({ source }) => source)).toEqual([{ '<<': 1 }]);
  });

  it('refuses pipes and links to files outside the project without reading them', () => {
    const outside = mkdtempSync(join(tmpdir(), 'bailiwick-outside-'));
    writeFileSync(join(outside, 'secret'), 'root:$6$secret: x\n- y\n');
    writeFileSync(join(folder, '..', 'shared.yaml'), 'name: Shared\nfields:\n  a: { type: string }\n');
    mkdirSync(join(folder, 'nested'));
    write('nested/inner.yaml', 'name: Inner\nfields:\n  a: { type: string }\n');
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    const links = {
      device: '/dev/zero',
      outside: join(outside, 'secret'),
      folder: outside,
      shared: '../shared.yaml',
      inner: 'nested/inner.yaml',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, `${name}.yaml`));
    symlinkSync('nowhere', join(folder, 'nowhere.yaml'));
    expect(mistakes()).toEqual([
      expect.stringMatching(/^resources\/device.yaml .*outside/),
      expect.stringMatching(/^resources\/folder.yaml .*outside/),
      expect.stringMatching(/^resources\/nowhere.yaml .*ENOENT/),
      expect.stringMatching(/^resources\/outside.yaml .*link to a place outside/),
      expect.stringMatching(/^resources\/pipe.yaml .*named pipe/),
    ]);
    expect(loadYamlFiles(folder, { kind: 'definition' }).files.map(({ file }) => file)).toEqual([
      'resources/inner.yaml',
      'resources/shared.yaml',
    ]);
    rmSync(outside, { recursive: true });
  });

  it.each([
    ['the same key', () => 'k: 1\n'.repeat(60_000), 20],
    ['unknown keys', () => Array.from({ length: 60_000 }, (_, n) => `k${n}: 1\n`).join(''), 60_002],
    ['closing braces', () => '}'.repeat(20_000), 20],
  ])('reads a file full of %s in linear time', (_, content, count) => {
    write('a.yaml', content());
    expect(mistakes()).toHaveLength(count);
  });

  it('reports a folder that cannot be read', () => {
    rmSync(folder, { recursive: true });
    expect(mistakes()).toEqual([expect.stringMatching(/^resources .*folder.*ENOENT/)]);
  });
});
