/** Creates the folder of a new project from a template of the package. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, makeFolder, RefusedPath } from '../files/index.ts';

/** A project to create. */
export interface NewProject {
  readonly folder: string;
  readonly template: string;
  readonly hasExampleData: boolean;
}

/** The templates of the package: the folder that contains them, and the version that a new project depends on. */
export interface ProjectTemplates {
  readonly folder: string;
  readonly version: string;
}

/** A created project. */
export interface CreatedProject {
  readonly folder: string;
  /** Paths of the created files, relative to the folder, with `/`. */
  readonly files: readonly string[];
}

/** The content of each file of a new project, by its path relative to the folder. */
type Files = ReadonlyMap<string, string>;

/** The only content of a folder that counts as empty. */
const GIT = '.git';

/** Maximum number of names that a refusal lists. */
const MOST_NAMED = 3;

/**
 * Creates a project in a folder that does not exist or is empty. If a file cannot be written, everything that was created is removed.
 *
 * @throws SetupError if the folder is not empty or cannot be written.
 */
export function createProject(project: NewProject, templates: ProjectTemplates): CreatedProject {
  const folder = resolve(project.folder);
  const files = readTemplate(project, templates);
  requireEmpty(folder);
  const created: (() => void)[] = [];
  try {
    for (const missing of missingFolders(folder)) created.push(() => rmdirSync(missing));
    makeFolder(folder);
    for (const [path, text] of files) writeNewFile(folder, { path, text, created });
  } catch (error) {
    for (const remove of created.reverse()) ignoreFailure(remove);
    const reason = error instanceof RefusedPath ? error.message : describeWriteError(error);
    throw new SetupError(`cannot create the project in ${folder}: ${reason}; nothing was left behind`);
  }
  return { folder, files: [...files.keys()] };
}

/** Returns the files of a new project. All are read before the first is written. */
function readTemplate({ folder, template, hasExampleData }: NewProject, { folder: templates, version }: ProjectTemplates): Files {
  const name = toPackageName(basename(resolve(folder)));
  const read = (path: string): string => readFileSync(join(templates, path), 'utf8');
  const values = new Map([
    ['name', name],
    ['about', read(`${template}/about.md`)],
    ['exampleData', hasExampleData ? read('common-example-data/README-section.md') : ''],
  ]);
  const sources = ['common', template, ...(hasExampleData ? ['common-example-data'] : [])];
  const files = new Map([['package.json', packageJson(name, version)]]);
  for (const source of sources) {
    for (const path of listFiles(join(templates, source))) {
      const target = targetOf(source, path);
      if (target === undefined || (!hasExampleData && target.startsWith('example-data/'))) continue;
      files.set(
        target,
        read(`${source}/${path}`).replace(/\{\{(\w+)\}\}/g, (found, key: string) => values.get(key) ?? found),
      );
    }
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the path of a template file in the project; undefined for a file that is a part of the README. `_` stands for `.`, because npm packs no
 * file `.gitignore` or `.npmrc`.
 */
function targetOf(source: string, path: string): string | undefined {
  if (path === 'about.md' || path === 'README-section.md') return undefined;
  if (source === 'common-example-data') return `example-data/${path}`;
  return path.replace(/^_/, '.');
}

function listFiles(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) =>
    join(parentPath, name)
      .slice(folder.length + 1)
      .replaceAll(sep, '/'),
  );
}

function packageJson(name: string, version: string): string {
  const scripts = {
    dev: 'bailiwick dev',
    start: 'bailiwick start',
    check: 'bailiwick check',
    test: 'bailiwick policies test',
  };
  const manifest = { name, private: true, type: 'module', scripts, engines: { node: '>=22.14' }, dependencies: { bailiwick: version } };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Returns a name that npm accepts. */
function toPackageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 100);
  return name === '' || name === 'node_modules' || name === 'bailiwick' ? 'bailiwick-project' : name;
}

function requireEmpty(folder: string): void {
  const names = findNames(folder).filter((name) => name !== GIT);
  if (names.length === 0) return;
  const named = names.slice(0, MOST_NAMED).join(', ');
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  throw new SetupError(`${folder} is not empty: it contains ${named}${more}. Nothing was changed; name another folder`);
}

/** Returns the names in a folder; none if it does not exist. */
function findNames(folder: string): readonly string[] {
  try {
    const found = findFile(folder);
    if (found === undefined) return [];
    if (found.isDirectory()) return readdirSync(folder).sort();
  } catch (error) {
    throw new SetupError(error instanceof RefusedPath ? error.message : `cannot read ${folder}: ${errorCode(error)}`);
  }
  throw new SetupError(`${folder} is not a folder. Nothing was changed; name another folder`);
}

/** Returns the folders of a path that do not exist, outermost first. */
function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; findFile(at) === undefined; at = dirname(at)) missing.unshift(at);
  return missing;
}

interface NewFile {
  readonly path: string;
  readonly text: string;
  /** Removes what was created, in reverse order. */
  readonly created: (() => void)[];
}

/** Writes a file and the folder that it is in. A file that another process has created in the meantime is not replaced. */
function writeNewFile(folder: string, { path, text, created }: NewFile): void {
  const target = join(folder, path);
  const parent = dirname(target);
  if (findFile(parent) === undefined) {
    mkdirSync(parent);
    created.push(() => rmdirSync(parent));
  }
  writeFileSync(target, '', { flag: 'wx' });
  created.push(() => unlinkSync(target));
  writeFileSync(target, text, { flush: true });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'no space left on the disk'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'not permitted'],
  ['EROFS', 'the file system is read-only'],
  ['EEXIST', 'another process writes into the folder'],
]);

function describeWriteError(error: unknown): string {
  const code = errorCode(error);
  return REASONS.get(code) ?? code;
}

/** Removes what can be removed: a folder in which another process has created a file stays. */
function ignoreFailure(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
  }
}
