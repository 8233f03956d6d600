import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, parse, sep } from 'node:path';
import { errorCode, RefusedPath, readRegularFile } from '../files/index.ts';
import type { Json } from '../operators/index.ts';
import type { DefinitionMistake, Mistake } from './definition-mistake.ts';
import { type Locate, parseYaml, SEVERAL_DOCUMENTS } from './yaml-file.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
const MAX_BYTES = 1_000_000;
const MAX_FILES = 1000;

/** A YAML or JSON file of a project, before its content is validated. */
export interface YamlFile {
  /** The path with its folder: `resources/article.yaml`. */
  readonly file: string;
  readonly source: Json;
  readonly locate: Locate;
}

/** The files of a folder. */
export interface LoadedYamlFiles {
  readonly files: readonly YamlFile[];
  /** Files that cannot be read, or are not valid YAML or JSON. */
  readonly mistakes: readonly Mistake[];
}

/** The kinds of files, with the place for the content of several documents. */
const PLACES = {
  definition: 'put each resource into a file of its own',
  policy: 'put several policies into the list policies',
  test: 'put all tests into the list tests',
} as const;

type FileKind = keyof typeof PLACES;

/** The files of a folder to load. */
export interface YamlFileQuery {
  /** The word for the files in a mistake: `definition`. */
  readonly kind: FileKind;
  /** Returns true for the names of files to load. By default, all are loaded. */
  readonly accepts?: (name: string) => boolean;
  /** True if a subfolder is a mistake. By default, subfolders are ignored. */
  readonly refusesSubfolders?: boolean;
}

/** Loads the YAML and JSON files of a folder, in the order of their names, without those of subfolders and hidden ones. */
export function loadYamlFiles(folder: string, { kind, accepts = () => true, refusesSubfolders = false }: YamlFileQuery): LoadedYamlFiles {
  const files: YamlFile[] = [];
  const mistakes: Mistake[] = [];
  const shownFolder = basename(folder);
  const names = listFiles(folder, { kind, accepts });
  if (typeof names === 'string') return { files, mistakes: [{ file: shownFolder, path: '', detail: names }] };
  if (refusesSubfolders)
    mistakes.push(...subfoldersOf(folder).map((name) => ({ file: `${shownFolder}/${name}`, path: '', detail: SUBFOLDER })));
  const roots = rootsOf(folder);
  for (const name of names) {
    const file = `${shownFolder}/${name}`;
    const text = readText(join(folder, name), roots);
    if (text.detail !== undefined) {
      mistakes.push({ file, path: '', detail: text.detail });
      continue;
    }
    const { value, errors, locate } = parseYaml(text.content);
    const withPlace = (detail: string): string => (detail === SEVERAL_DOCUMENTS ? `${detail}: ${PLACES[kind]}` : detail);
    mistakes.push(...errors.map(({ detail, position }) => ({ file, ...position, path: '', detail: withPlace(detail) })));
    if (value !== undefined) files.push({ file, source: value, locate });
  }
  return { files, mistakes };
}

/** Adds the position in the file to a mistake. */
export function placeMistake({ file, locate }: YamlFile, { path, on, detail }: DefinitionMistake): Mistake {
  return { file, ...locate(path, on), path: path.join('.'), detail };
}

const SUBFOLDER = 'expected no subfolder: files in it are not loaded';

/** Returns the names of the subfolders that are not hidden, with links to folders. */
function subfoldersOf(folder: string): readonly string[] {
  const isFolder = (name: string): boolean => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true;
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && isFolder(name))
    .sort();
}

function listFiles(folder: string, { kind, accepts }: Required<Omit<YamlFileQuery, 'refusesSubfolders'>>): readonly string[] | string {
  try {
    const names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.') && EXTENSIONS.has(extname(entry.name).toLowerCase()))
      .map((entry) => entry.name)
      .filter(accepts);
    if (names.length > MAX_FILES) return `expected at most ${MAX_FILES} ${kind} files, found ${names.length}`;
    return names.sort((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    return `cannot read the folder of ${kind} files (${errorCode(error)})`;
  }
}

/**
 * Returns the folders that may contain the files: the folder itself and the project folder. A link to another place could make the service
 * read any file of the machine and show its lines as mistakes.
 */
function rootsOf(folder: string): readonly string[] {
  const own = realpathSync(folder);
  const project = dirname(own);
  return project === parse(project).root ? [own] : [own, project];
}

function readText(path: string, roots: readonly string[]): { content: string; detail?: undefined } | { detail: string } {
  try {
    const real = realpathSync(path);
    if (!roots.some((root) => real.startsWith(root + sep)))
      return { detail: 'expected a file of the project, found a link to a place outside of it' };
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(readRegularFile(real, MAX_BYTES)) };
  } catch (error) {
    if (error instanceof RefusedPath) return { detail: error.message };
    if (error instanceof TypeError) return { detail: 'expected UTF-8 text' };
    return { detail: `cannot read the file (${errorCode(error)})` };
  }
}
