import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A source file with its syntax tree. */
export interface Source {
  /** Below the folder of sources, with `/`: `storage/sqlite/database.ts`. */
  readonly path: string;
  /** The folder under the sources, or the name of a file that lies there by itself: `storage`, `pipeline`. */
  readonly module: string;
  readonly isTest: boolean;
  readonly text: string;
  readonly lines: number;
  readonly parsed: ReturnType<typeof parseSync>;
  /** Line of a position, from 1. */
  lineOf(position: number): number;
}

/** Reads every source below a folder; their paths begin with `prefix`. */
export function readSources(folder: string, prefix: string = ''): readonly Source[] {
  const paths = globSync('**/*.ts', { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  return paths.sort().map((path) => readSource(`${prefix}${path}`, readFileSync(join(folder, path), 'utf8')));
}

/** One source from its text. */
export function readSource(path: string, text: string): Source {
  const parsed = parseSync(path, text, { lang: 'ts', sourceType: 'module' });
  if (parsed.errors[0] !== undefined) throw new Error(`${path} does not parse: ${parsed.errors[0].message}`);
  return {
    path,
    module: moduleOf(path),
    isTest: /\.(test|fixture)\.ts$/.test(path),
    text,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    parsed,
    lineOf: (position) => text.slice(0, position).split('\n').length,
  };
}

/** The module that a path below the sources belongs to. */
export function moduleOf(path: string): string {
  const [first = ''] = path.split('/');
  return first.replace(/(\.(test|fixture))?\.ts$/, '');
}
