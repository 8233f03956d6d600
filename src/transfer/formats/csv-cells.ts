import { type Issue, Problem } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { fieldKind } from '../../resources/index.ts';
import { parseJson } from '../../strict-json.ts';

/** How cells stand for values. */
export interface CellOptions {
  /** Whether an apostrophe keeps spreadsheets from reading a text as a formula. */
  readonly guardFormulas: boolean;
  /** Nesting of JSON in a cell. */
  readonly depth: number;
}

/** A value, or what is wrong with the cell. */
export type ReadCell = { readonly value: Json } | { readonly issue: Issue };

/**
 * What a spreadsheet takes for the beginning of a formula: behind white space and quotes too, which some pass over, and in
 * full width. Behind apostrophes as well, which we may have put there: so one is taken away exactly where one was put.
 */
const FORMULA = /^[\s'"]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^'*[\t\r]/;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * A value as a cell: lists and JSON as JSON, no value as an empty cell. A text that a spreadsheet would run gets an
 * apostrophe in front; so does one that begins with such an apostrophe already, or it would be lost on the way back.
 */
export function toCell(field: Field, value: Json, { guardFormulas }: Pick<CellOptions, 'guardFormulas'>): string {
  if (value === null) return '';
  const kind = fieldKind(field)?.kind;
  const text = kind === 'list' || kind === 'json' || typeof value !== 'string' ? JSON.stringify(value) : value;
  const isNumber = kind === 'number' || kind === 'decimal';
  return guardFormulas && !isNumber && FORMULA.test(text) ? `'${text}` : text;
}

/**
 * A cell as what its field expects. What is no number stays a text, for the check of values to refuse in its own words;
 * only what is not even JSON where JSON is due is told here: as a text it could pass for some.
 */
export function readCell(field: Field | undefined, cell: string, { guardFormulas, depth }: CellOptions): ReadCell {
  const text = guardFormulas && cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
  const kind = field && fieldKind(field)?.kind;
  if (kind === 'number') return { value: NUMBER.test(text) ? Number(text) : text };
  // Spreadsheets write them in capitals.
  if (kind === 'boolean') return { value: /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text };
  if (field === undefined || (kind !== 'list' && kind !== 'json')) return { value: text };
  try {
    return { value: parseJson(text, { maxDepth: depth, subject: 'the cell' }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { issue: { path: field.name, code: 'format', detail: `expected ${kind === 'list' ? 'a JSON array' : 'JSON'} in the cell` } };
  }
}
