import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { createProject, type ProjectTemplates } from './create-project.ts';

const parent = mkdtempSync(join(tmpdir(), 'bailiwick-create-'));
afterAll(() => rmSync(parent, { recursive: true }));

const templates: ProjectTemplates = { folder: 'templates', version: '1.2.3' };
let count = 0;
const newPath = (name = ''): string => join(parent, `${++count}${name}`);
const create = (folder: string, hasExampleData = false) => createProject({ folder, template: 'blank', hasExampleData }, templates);
const listAll = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();

describe('createProject', () => {
  it('creates the listed files, with the folder and its parents', () => {
    const folder = join(newPath(), 'deep', 'shop');
    const created = create(folder);
    expect(created.folder).toBe(folder);
    expect(created.files).toEqual(listAll(folder));
    expect(created.files).toEqual(
      expect.arrayContaining(['.env.example', '.gitignore', '.npmrc', '.vscode/settings.json', 'resources/Note.yaml']),
    );
  });

  it('names the project after its folder, and pins the version that created it', () => {
    const folder = newPath(' My Shop!');
    create(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: `${Number.parseInt(basename(folder), 10)}-my-shop-`, dependencies: { bailiwick: '1.2.3' } });
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).not.toContain('{{');
  });

  it('adds the example data only on request', () => {
    const [without, withData] = [newPath(), newPath()];
    expect(create(without).files.filter((path) => path.startsWith('example-data'))).toEqual([]);
    expect(create(withData, true).files).toEqual(expect.arrayContaining(['example-data/load.mjs', 'example-data/records.json']));
    expect(readFileSync(join(withData, 'README.md'), 'utf8')).toContain('node example-data/load.mjs');
  });

  it('creates a project in an empty folder, and in a new Git repository', () => {
    const [empty, repository] = [newPath(), newPath()];
    mkdirSync(empty);
    mkdirSync(join(repository, '.git'), { recursive: true });
    for (const folder of [empty, repository]) expect(create(folder).files).toContain('package.json');
  });

  it('refuses a folder that is not empty, and changes nothing', () => {
    const folder = newPath();
    mkdirSync(folder);
    writeFileSync(join(folder, '.hidden'), 'mine');
    expect(() => create(folder)).toThrow(SetupError);
    expect(listAll(folder)).toEqual(['.hidden']);
  });

  it.each([
    { name: 'a file', make: (path: string) => writeFileSync(path, 'mine') },
    { name: 'a link to nothing', make: (path: string) => symlinkSync('absent', path) },
  ])('refuses $name in the way, and changes nothing', ({ make }) => {
    const path = newPath();
    make(path);
    expect(() => create(path)).toThrow(SetupError);
    expect(() => create(join(path, 'below'))).toThrow(SetupError);
    expect(readdirSync(parent)).toContain(basename(path));
  });

  it('removes what it has created if a file cannot be written, and keeps what was there', () => {
    // The file `README.md/x` cannot be written after the file `README.md`.
    const broken = newPath();
    for (const path of ['common/README.md', 'blank/about.md', 'blank/a/b.txt', 'blank/README.md/x']) {
      mkdirSync(join(broken, path, '..'), { recursive: true });
      writeFileSync(join(broken, path), 'text');
    }
    const [folder, existing] = [join(newPath(), 'deep'), newPath()];
    mkdirSync(join(existing, '.git'), { recursive: true });
    for (const each of [folder, existing])
      expect(() => createProject({ folder: each, template: 'blank', hasExampleData: false }, { ...templates, folder: broken })).toThrow(
        SetupError,
      );
    expect(readdirSync(parent)).not.toContain(basename(join(folder, '..')));
    expect(readdirSync(existing)).toEqual(['.git']);
  });

  it('refuses a folder that cannot be created', () => {
    expect(() => create('/proc/bailiwick/shop')).toThrow(SetupError);
  });
});
