import type { Json } from '../operators/index.ts';
import { validateCharacters } from './characters.ts';
import type { FieldType } from './field-type.ts';

const MAX_BYTES = 100_000;
const MAX_DEPTH = 32;

/** The field type `json`. */
export const json: FieldType = Object.freeze({
  name: 'json',
  label: 'JSON',
  summary: 'Any JSON value except null, of at most 100,000 bytes and 32 levels. Filters can only test whether it is present.',
  options: [],
  kind: 'json',
  column: 'json',
  widensTo: [],
  form: 'json',
  example: { width: 640, height: 480 },
  jsonSchema: () => ({ description: 'any JSON value but null' }),
  validateValue: validateJson,
  toColumn: (value) => JSON.stringify(value),
  fromColumn: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as Json) : (stored as Json)),
} satisfies FieldType);

function validateJson(value: Json): string | undefined {
  // The depth is validated first: serializing a value that is too deep would overflow the stack.
  const wrong = validateParts(value, MAX_DEPTH);
  if (wrong !== undefined) return wrong;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_BYTES ? `expected at most ${MAX_BYTES} bytes, given ${bytes}` : undefined;
}

function validateParts(value: Json, levels: number): string | undefined {
  // JSON.parse returns Infinity for 1e999, and JSON.stringify would write it as null.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'expected finite numbers';
  if (typeof value === 'string') return validateCharacters(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `expected at most ${MAX_DEPTH} levels`;
  for (const [key, part] of Object.entries(value)) {
    const wrong = validateCharacters(key) ?? validateParts(part, levels - 1);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
