import type { Json } from '../operators/index.ts';
import { validateCharacters } from './characters.ts';
import type { FieldType } from './field-type.ts';

const MOST_BYTES = 100_000;
const MOST_DEPTH = 32;

/** Any JSON. */
export const json: FieldType = Object.freeze({
  name: 'json',
  label: 'JSON',
  summary: 'Any JSON but null: at most 100,000 bytes and 32 levels; filters ask only whether it is there.',
  options: [],
  kind: 'json',
  column: 'json',
  widensTo: [],
  form: 'json',
  example: { width: 640, height: 480 },
  jsonSchema: () => ({ description: 'any JSON value but null' }),
  checkValue: checkWhole,
  toColumn: (value) => JSON.stringify(value),
  fromColumn: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as Json) : (stored as Json)),
} satisfies FieldType);

function checkWhole(value: Json): string | undefined {
  // Depth first: serialising would overflow the stack on what is too deep.
  const wrong = checkParts(value, MOST_DEPTH);
  if (wrong !== undefined) return wrong;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MOST_BYTES ? `expected at most ${MOST_BYTES} bytes, given ${bytes}` : undefined;
}

function checkParts(value: Json, levels: number): string | undefined {
  // What JSON.parse reads of 1e999; written again it would be null.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'expected finite numbers';
  if (typeof value === 'string') return validateCharacters(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `expected at most ${MOST_DEPTH} levels`;
  for (const [key, part] of Object.entries(value)) {
    const wrong = validateCharacters(key) ?? checkParts(part, levels - 1);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
