import type { FilePosition } from './yaml-file.ts';

/** A mistake in a definition. */
export interface DefinitionMistake {
  /** Member names and list positions, from the root of the definition. */
  readonly path: readonly (string | number)[];
  /** `key` if the name of the member is wrong, `value` if its value is. */
  readonly on: 'key' | 'value';
  readonly detail: string;
}

/** Reports a mistake; `on` is `value` by default. */
export type Report = (path: readonly (string | number)[], detail: string, on?: 'key' | 'value') => void;

/** A mistake with its position in the file. */
export interface Mistake {
  /** The file with its folder, as in `resources/article.yaml`. */
  readonly file: string;
  /** Line and column count from 1; absent if the mistake concerns the whole file. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The position in the anchored node, if the member is read through an alias. */
  readonly anchored?: FilePosition | undefined;
  /** Dotted: `fields.title.maxLength`; empty for the whole definition. */
  readonly path: string;
  readonly detail: string;
}

/** Renders a mistake: `resources/article.yaml:7:13 fields.titel.maxLenght: unknown option "maxLenght" (did you mean "maxLength"?)` */
export function printMistake(mistake: Mistake): string {
  const place = mistake.line === undefined ? mistake.file : `${mistake.file}:${mistake.line}:${mistake.column ?? 1}`;
  return mistake.path === '' ? `${place} ${mistake.detail}` : `${place} ${mistake.path}: ${mistake.detail}`;
}

/** Sorts mistakes by file, line and column. A mistake in an anchored node is listed once, not again for each of its aliases. */
export function sortMistakes(mistakes: readonly Mistake[]): readonly Mistake[] {
  const keyOf = ({ file, detail }: Mistake, { line, column }: Pick<Mistake, 'line' | 'column'>): string =>
    JSON.stringify([file, line, column, detail]);
  const known = new Set(mistakes.map((mistake) => keyOf(mistake, mistake)));
  return mistakes.filter((mistake) => mistake.anchored === undefined || !known.has(keyOf(mistake, mistake.anchored))).sort(compareMistakes);
}

function compareMistakes(a: Mistake, b: Mistake): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** Returns a report function and the list that it fills. */
export function collectMistakes(): { readonly mistakes: readonly DefinitionMistake[]; readonly report: Report } {
  const mistakes: DefinitionMistake[] = [];
  return { mistakes, report: (path, detail, on = 'value') => void mistakes.push({ path: [...path], on, detail }) };
}

/** Returns the JSON type of a value with its article: "a list", "text", "null". */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { string: 'text', number: 'a number', boolean: 'a boolean', object: 'an object' }[typeof value as string] ?? 'something else';
}
