import { type Json, type JsonObject, validatePattern } from '../operators/index.ts';
import type { Field, FieldType } from './field-type.ts';

const NO_NUL = 'expected text without NUL characters';
const NO_SURROGATE = 'expected well-formed Unicode, found half of a surrogate pair';

/** Returns a message for a value that is not a text, or that databases cannot store unchanged. */
export function validateCharacters(value: Json): string | undefined {
  if (typeof value !== 'string') return 'expected text';
  if (value.includes('\u0000')) return NO_NUL;
  // A lone surrogate has no UTF-8 form: the stored text would differ.
  if (!value.isWellFormed()) return NO_SURROGATE;
  return undefined;
}

/** Returns true for a message of `validateCharacters`, also if a text before it names the item of a list. */
export function isAboutCharacters(message: string): boolean {
  return message.endsWith(NO_NUL) || message.endsWith(NO_SURROGATE);
}

/** The column and codec of types that are stored as texts, unchanged. */
export const TEXT_COLUMN: Pick<FieldType, 'column' | 'toColumn' | 'fromColumn'> = Object.freeze({
  column: 'text',
  toColumn: (value: Json): string | undefined => (typeof value === 'string' ? value : undefined),
  fromColumn: (stored: unknown): Json => String(stored),
});

/** Returns the JSON Schema of a text with the field's lengths and pattern. */
export function textSchema(field: Field, defaultMaxLength: number): JsonObject {
  return {
    type: 'string',
    ...(field.minLength !== undefined && { minLength: field.minLength }),
    maxLength: field.maxLength ?? defaultMaxLength,
    ...(field.pattern !== undefined && { pattern: field.pattern }),
  };
}

/** The range of the options `minLength` and `maxLength`. */
interface LengthLimits {
  /** The smallest accepted `minLength`; zero if absent. */
  readonly min?: number;
  /** The `maxLength` of a field without that option. */
  readonly defaultMaxLength: number;
  /** The largest accepted `maxLength`. */
  readonly max: number;
}

/** Returns the mistakes in the `minLength`, `maxLength` and `pattern` of a field. */
export function validateLengths(field: Field, limits: LengthLimits): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  const min = limits.min ?? 0;
  for (const option of ['minLength', 'maxLength'] as const) {
    const length = field[option];
    if (length !== undefined && (length < min || length > limits.max)) {
      mistakes.push({ option, detail: `expected ${min} to ${limits.max}, given ${length}` });
    }
  }
  const maxLength = field.maxLength ?? limits.defaultMaxLength;
  if (field.minLength !== undefined && field.minLength > maxLength) {
    mistakes.push({ option: 'minLength', detail: `expected at most maxLength, which is ${maxLength}, given ${field.minLength}` });
  }
  const wrongPattern = field.pattern === undefined ? undefined : validatePattern(field.pattern);
  if (wrongPattern !== undefined) mistakes.push({ option: 'pattern', detail: wrongPattern });
  return mistakes;
}
