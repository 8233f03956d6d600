import type { PathKind } from '../condition/index.ts';
import { Problem } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { Json, Kind, OperandShape } from '../operators/index.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Maximum nesting of a list in a query string: its items are plain values. */
const LIST_DEPTH = 2;

type ReadText = { readonly value: Json } | { readonly detail: string };

/** The text of a query string, read as the operand that an operator on a field of this kind expects. */
export function readOperandText(given: Json, shape: OperandShape, { kind, itemKind }: PathKind): ReadText {
  if (typeof given !== 'string') return { detail: 'expected text' };
  switch (shape) {
    case 'scalar':
      return readScalar(given, kind === 'list' ? itemKind : kind);
    case 'scalars':
    case 'range':
      return readSeveral(given, kind === 'list' ? itemKind : kind);
    case 'daysOfWeek':
      return readSeveral(given, 'number');
    case 'timesOfDay':
      return readSeveral(given, 'text');
    case 'networks':
      return given.includes(',') || given.startsWith('[') ? readSeveral(given, 'text') : { value: given };
    case 'boolean':
      return readScalar(given, 'boolean');
    default:
      return { value: given };
  }
}

function readScalar(text: string, kind: Kind | undefined): ReadText {
  if (kind === 'number') {
    // An own pattern: Number() would read '' as 0 and '0x10' as 16.
    return NUMBER.test(text) && Number.isFinite(Number(text))
      ? { value: Number(text) }
      : { detail: `expected a number, given ${quoteText(text)}` };
  }
  if (kind === 'boolean') {
    return text === 'true' || text === 'false'
      ? { value: text === 'true' }
      : { detail: `expected true or false, given ${quoteText(text)}` };
  }
  return { value: text };
}

// `a,b,c`, or a JSON array for values that hold commas themselves.
function readSeveral(text: string, kind: Kind | undefined): ReadText {
  if (text.startsWith('[')) return readJsonArray(text);
  if (text === '') return { value: [] };
  const values: Json[] = [];
  for (const part of text.split(',')) {
    const read = readScalar(part, kind);
    if ('detail' in read) return read;
    values.push(read.value);
  }
  return { value: values };
}

function readJsonArray(text: string): ReadText {
  try {
    return { value: parseJson(text, { maxDepth: LIST_DEPTH, subject: 'the list' }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { detail: `expected values with commas between them, or a JSON array, given ${quoteText(text)}` };
  }
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
