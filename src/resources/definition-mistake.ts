/** One mistake in a definition: where in it, and what was expected and given. */
export interface DefinitionMistake {
  /** Member names and list positions from the top of the definition. */
  readonly path: readonly (string | number)[];
  /** Whether the member's name is wrong or what it holds. */
  readonly on: 'key' | 'value';
  readonly detail: string;
}

/** Where a definition's reader puts what it finds wrong. */
export type Report = (path: readonly (string | number)[], detail: string, on?: 'key' | 'value') => void;

/** A mistake with the place in the file where it stands. */
export interface Mistake {
  /** The file with its folder, as in `resources/article.yaml`. */
  readonly file: string;
  /** Both from 1; absent where the file as a whole is meant. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Dotted: `fields.title.maxLength`; empty for the whole definition. */
  readonly path: string;
  readonly detail: string;
}

/** `resources/article.yaml:7:13 fields.titel.maxLenght: unknown option "maxLenght" (did you mean "maxLength"?)` */
export function printMistake(mistake: Mistake): string {
  const place = mistake.line === undefined ? mistake.file : `${mistake.file}:${mistake.line}:${mistake.column ?? 1}`;
  return mistake.path === '' ? `${place} ${mistake.detail}` : `${place} ${mistake.path}: ${mistake.detail}`;
}

/** A report and the list that it fills. */
export function collectMistakes(): { readonly mistakes: readonly DefinitionMistake[]; readonly report: Report } {
  const mistakes: DefinitionMistake[] = [];
  return { mistakes, report: (path, detail, on = 'value') => void mistakes.push({ path: [...path], on, detail }) };
}

/** The JSON type of a value with its article: "a list", "text", "null". */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { string: 'text', number: 'a number', boolean: 'a boolean', object: 'an object' }[typeof value as string] ?? 'something else';
}
