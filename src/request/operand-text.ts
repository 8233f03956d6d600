import type { PathKind } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import type { Json, Kind, OperandShape } from '../operators/index.ts';
import { parseJson } from '../strict-json.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Maximum nesting of a list in a query string: its items are plain values. */
const LIST_DEPTH = 2;

type ParsedText = { readonly value: Json } | { readonly detail: string };

/** Parses a text of a query string as the operand that an operator expects on a field of this kind. */
export function parseOperandText(given: Json, shape: OperandShape, { kind, itemKind }: PathKind): ParsedText {
  if (typeof given !== 'string') return { detail: 'expected text' };
  switch (shape) {
    case 'scalar':
      return parseScalar(given, kind === 'list' ? itemKind : kind);
    case 'scalars':
    case 'range':
      return parseList(given, kind === 'list' ? itemKind : kind);
    case 'daysOfWeek':
      return parseList(given, 'number');
    case 'timesOfDay':
      return parseList(given, 'text');
    case 'networks':
      return given.includes(',') || given.startsWith('[') ? parseList(given, 'text') : { value: given };
    case 'boolean':
      return parseScalar(given, 'boolean');
    default:
      return { value: given };
  }
}

function parseScalar(text: string, kind: Kind | undefined): ParsedText {
  if (kind === 'number') {
    // Number() would take '' for 0 and '0x10' for 16.
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

/** Parses `a,b,c`, or a JSON array for values that contain commas. */
function parseList(text: string, kind: Kind | undefined): ParsedText {
  if (text.startsWith('[')) return parseArray(text);
  if (text === '') return { value: [] };
  const values: Json[] = [];
  for (const part of text.split(',')) {
    const read = parseScalar(part, kind);
    if ('detail' in read) return read;
    values.push(read.value);
  }
  return { value: values };
}

function parseArray(text: string): ParsedText {
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
