import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A source file with its syntax tree. */
export interface Source {
  /** Relative to the folder of sources, with `/`: `storage/sqlite/database.ts`. */
  readonly path: string;
  readonly isTest: boolean;
  readonly text: string;
  readonly lines: number;
  readonly parsed: ReturnType<typeof parseSync>;
  /** Returns the line of a position; the first line is 1. */
  lineOf(position: number): number;
}

/** Loads every source below a folder that is not generated; their paths begin with `prefix`. */
export function loadSources(folder: string, prefix: string = ''): readonly Source[] {
  const paths = globSync('**/*.{ts,tsx}', { cwd: folder, exclude: ['**/generated/**'] }).map((path) => path.replaceAll('\\', '/'));
  return paths.sort().map((path) => parseSource(`${prefix}${path}`, readFileSync(join(folder, path), 'utf8')));
}

/** Parses one source. */
export function parseSource(path: string, text: string): Source {
  const parsed = parseSync(path, text, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts', sourceType: 'module' });
  if (parsed.errors[0] !== undefined) throw new Error(`${path} does not parse: ${parsed.errors[0].message}`);
  return {
    path,
    isTest: /\.(test|fixture)\.tsx?$/.test(path),
    text,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    parsed,
    lineOf: (position) => text.slice(0, position).split('\n').length,
  };
}
