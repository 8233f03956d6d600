import { type Json, type JsonObject, validatePattern } from '../operators/index.ts';
import type { Field, FieldType } from './field-type.ts';

/** What is wrong with a text that databases cannot keep as it is; undefined where nothing is. */
export function validateCharacters(value: Json): string | undefined {
  if (typeof value !== 'string') return 'expected text';
  if (value.includes('\u0000')) return 'expected text without NUL characters';
  // A lone surrogate has no UTF-8 form: stored and read again it would be another text.
  if (!value.isWellFormed()) return 'expected well-formed Unicode, found half of a surrogate pair';
  return undefined;
}

/** How every type with a text column stores its values: as they are. */
export const TEXT_COLUMN: Pick<FieldType, 'column' | 'toColumn' | 'fromColumn'> = Object.freeze({
  column: 'text',
  toColumn: (value: Json): string | undefined => (typeof value === 'string' ? value : undefined),
  fromColumn: (stored: unknown): Json => String(stored),
});

/** JSON Schema of a text with the field's lengths and pattern; `longest` holds where the field says none. */
export function textSchema(field: Field, longest: number): JsonObject {
  return {
    type: 'string',
    ...(field.minLength !== undefined && { minLength: field.minLength }),
    maxLength: field.maxLength ?? longest,
    ...(field.pattern !== undefined && { pattern: field.pattern }),
  };
}

interface LengthBounds {
  /** Smallest minLength that a definition may ask for. */
  readonly least?: number;
  /** The length that holds where the definition says none. */
  readonly usual: number;
  /** Largest maxLength that a definition may ask for. */
  readonly most: number;
}

/** What is wrong with a field's `minLength`, `maxLength` and `pattern`. */
export function validateLengths(field: Field, bounds: LengthBounds): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  const least = bounds.least ?? 0;
  for (const option of ['minLength', 'maxLength'] as const) {
    const length = field[option];
    if (length !== undefined && (length < least || length > bounds.most)) {
      mistakes.push({ option, detail: `expected ${least} to ${bounds.most}, given ${length}` });
    }
  }
  const longest = field.maxLength ?? bounds.usual;
  if (field.minLength !== undefined && field.minLength > longest) {
    mistakes.push({ option: 'minLength', detail: `expected at most maxLength, which is ${longest}, given ${field.minLength}` });
  }
  const wrongPattern = field.pattern === undefined ? undefined : validatePattern(field.pattern);
  if (wrongPattern !== undefined) mistakes.push({ option: 'pattern', detail: wrongPattern });
  return mistakes;
}
