import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CsvError } from 'csv-parse';
import { didYouMean, type Issue, Problem } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import { parseJsonInSteps } from '../../json-steps.ts';
import type { Json } from '../../operators/index.ts';
import { fieldKind, typeOf } from '../../resources/index.ts';
import { runInTurns } from '../../run-in-turns.ts';
import { type SourceOptions, type SourceRow, toUnreadable } from './format.ts';

const TOO_LONG = 'the row is too long';
/** Maximum cells of a row. A resource has fewer fields, and the event loop would wait for a row with a million empty cells. */
const MAX_CELLS = 10_000;
/** Maximum mistakes listed for a header. */
const MAX_MISTAKES = 100;
const MAX_SUGGESTIONS = 10;
const DELIMITERS = [',', ';', '\t'];

/**
 * Parses CSV (RFC 4180), whose first row has the names of fields. An empty cell gives no value: a new record gets the default, a stored
 * record keeps its value. Throws REQUEST_MALFORMED if the header is invalid.
 */
export async function* parseCsv(texts: AsyncIterable<string>, options: SourceOptions): AsyncGenerator<SourceRow> {
  let header: readonly string[] | undefined;
  let row = 0;
  let headerRow: number | undefined;
  // The header is validated as soon as it is parsed, so that a wrong delimiter is reported before a misplaced quote in a later row.
  const onParsed = (cells: readonly string[]): void => {
    if (!isEmptyLine(cells)) header ??= parseHeader(cells, options);
  };
  for await (const cells of parseRows(texts, { ...options, onParsed })) {
    row++;
    // Empty lines are skipped but counted, so that row numbers are those of a spreadsheet.
    if (header === undefined || isEmptyLine(cells)) continue;
    headerRow ??= row;
    if (row > headerRow) yield runInTurns(toRow({ row, header, cells }, options));
  }
  if (header === undefined) throw new Problem('REQUEST_MALFORMED', 'expected a row with the names of fields, given no row');
}

function isEmptyLine(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === '';
}

interface ParsedRow {
  readonly row: number;
  readonly header: readonly string[];
  readonly cells: readonly string[];
}

/** Parses the cells of a row, those with JSON in steps. */
function* toRow({ row, header, cells }: ParsedRow, options: SourceOptions): Generator<void, SourceRow> {
  const size = cells.reduce((sum, cell) => sum + cell.length, cells.length);
  if (cells.length !== header.length) {
    const expected = `${header.length} ${header.length === 1 ? 'cell' : 'cells'}`;
    return toUnreadable(row, `expected ${expected}, as in the header, given ${cells.length}`, size);
  }
  const values: [string, Json][] = [];
  const issues: Issue[] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const parsed = yield* parseCell(options.resource.fields.get(name), cell, options);
    if ('issue' in parsed) issues.push(parsed.issue);
    else values.push([name, parsed.value]);
  }
  // Object.fromEntries defines own properties, so a column named __proto__ has no special effect.
  return { row, data: Object.fromEntries(values), issues, size };
}

/** Validates the header and returns its names. An unknown column is reported once here and not for each row. */
function parseHeader(cells: readonly string[], { resource, delimiter }: SourceOptions): readonly string[] {
  const seen = new Set<string>();
  const errors: Issue[] = [];
  const writable = [...resource.fields.values()].filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  for (const [index, name] of cells.entries()) {
    if (errors.length >= MAX_MISTAKES) break;
    const place = `column ${index + 1}`;
    const shown = JSON.stringify(name.slice(0, 64));
    if (seen.has(name)) errors.push({ path: place, code: 'duplicate', detail: `expected each column once, given ${shown} again` });
    else if (!resource.fields.has(name)) {
      const other = cells.length === 1 ? suggestDelimiter(name, { resource, delimiter }) : '';
      const near = other === '' && errors.length < MAX_SUGGESTIONS ? didYouMean(name, writable) : other;
      errors.push({ path: place, code: 'unknown', detail: `expected the name of a field, given ${shown}${near}` });
    }
    seen.add(name);
  }
  if (errors.length === 0) return cells;
  throw new Problem('REQUEST_MALFORMED', `the header has ${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}`, { errors });
}

/** Suggests another delimiter if that delimiter splits the header into names of fields. Many spreadsheets write `;`. */
function suggestDelimiter(header: string, { resource, delimiter }: Pick<SourceOptions, 'resource' | 'delimiter'>): string {
  const namesBy = (other: string): readonly string[] => header.split(other, MAX_MISTAKES);
  const better = DELIMITERS.find((other) => other !== delimiter && namesBy(other).some((name) => resource.fields.has(name)));
  return better === undefined ? '' : ` (did you mean the delimiter ${better === '\t' ? 'tab' : JSON.stringify(better)}?)`;
}

interface Parsing extends SourceOptions {
  /** Called with each row when it is parsed, before it is yielded. May throw. */
  readonly onParsed: (cells: readonly string[]) => void;
}

async function* parseRows(texts: AsyncIterable<string>, { delimiter, rowLength, onParsed }: Parsing): AsyncGenerator<readonly string[]> {
  // The parser is loaded only when CSV is imported.
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: rowLength,
    relax_column_count: true,
    // `max_record_size` does not count empty cells, so a row of delimiters would never be too long.
    cast: (cell, { index, lines }) => (index < MAX_CELLS ? cell : refuseCells(lines)),
    on_record: (cells: string[]) => {
      onParsed(cells);
      return cells;
    },
  });
  const piped = pipeline(Readable.from(texts, { objectMode: true }), parser);
  // The loop below throws the same error.
  piped.catch(() => undefined);
  try {
    for await (const record of parser) yield record as readonly string[];
  } catch (error) {
    throw error instanceof CsvError ? toProblem(error) : error;
  }
}

function refuseCells(line: number): never {
  throw new Problem('REQUEST_MALFORMED', `expected at most ${MAX_CELLS} cells in a row, given more in line ${line}`);
}

/** Converts a parser error into a problem, without the message of the parser, which repeats the data. */
function toProblem(error: CsvError): Problem {
  const line = typeof error['lines'] === 'number' ? ` in line ${error['lines']}` : '';
  const detail = MISTAKES.get(error.code) ?? 'expected CSV (RFC 4180)';
  return new Problem('REQUEST_MALFORMED', `${detail}${line}`, { cause: error });
}

const MISTAKES: ReadonlyMap<string, string> = new Map([
  ['CSV_QUOTE_NOT_CLOSED', 'expected a closing quote before the end of the file, for the quote that opens'],
  ['CSV_INVALID_CLOSING_QUOTE', 'expected a delimiter after a closing quote'],
  ['INVALID_OPENING_QUOTE', 'expected quotes only around a whole cell, given a quote inside'],
  ['CSV_MAX_RECORD_SIZE', TOO_LONG],
]);

/** Options for writing and parsing cells. */
interface CellOptions {
  /** True if an apostrophe is put before texts that a spreadsheet would run as formulas, and removed when they are read. */
  readonly guardFormulas: boolean;
  /** Maximum nesting depth of JSON in a cell. */
  readonly depth: number;
}

/** The value of a cell, or the reason why the cell is refused. */
type ParsedCell = { readonly value: Json } | { readonly issue: Issue };

/**
 * Matches texts that a spreadsheet could run as a formula, also after white space and quotes, which some spreadsheets skip, and with
 * full-width characters. Leading apostrophes are matched too, so that parsing removes an apostrophe exactly where writing added one.
 */
const FORMULA = /^[\s'"]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^'*[\t\r]/;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Spreadsheets write zeros after the point in a column with that format. */
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.0+)?$/;

/**
 * Writes a value as a cell: lists and JSON as JSON, null as an empty cell. With `guardFormulas`, an apostrophe precedes a text that a
 * spreadsheet would run, also if the text already begins with one.
 */
export function toCell(field: Field, value: Json, { guardFormulas }: Pick<CellOptions, 'guardFormulas'>): string {
  if (value === null) return '';
  const kind = fieldKind(field)?.kind;
  const text = kind === 'list' || kind === 'json' || typeof value !== 'string' ? JSON.stringify(value) : value;
  const isNumber = kind === 'number' || kind === 'decimal';
  return guardFormulas && !isNumber && FORMULA.test(text) ? `'${text}` : text;
}

/**
 * Parses a cell by the type of its field. An invalid number or boolean stays a text, which the validation of values refuses. Invalid
 * JSON is refused here, because a text would be a valid value of a JSON field.
 */
function* parseCell(field: Field | undefined, cell: string, { guardFormulas, depth }: CellOptions): Generator<void, ParsedCell> {
  // No export writes a write-only field, so an apostrophe belongs to the password or other secret.
  const isGuarded = guardFormulas && field?.writeOnly !== true && cell.startsWith("'") && FORMULA.test(cell.slice(1));
  const text = isGuarded ? cell.slice(1) : cell;
  // Write-only fields have no kind in conditions, so the kind of the type counts.
  const { kind, whole } = field === undefined ? {} : typeOf(field);
  // A number that is not whole could become a whole one when it is rounded.
  if (kind === 'number') return { value: (whole ? WHOLE_NUMBER : NUMBER).test(text) ? Number(text) : text };
  // Spreadsheets write booleans in capitals.
  if (kind === 'boolean') return { value: /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text };
  if (field === undefined || (kind !== 'list' && kind !== 'json')) return { value: text };
  try {
    return { value: yield* parseJsonInSteps(text, { maxDepth: depth, subject: 'the cell' }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { issue: { path: field.name, code: 'format', detail: `expected ${kind === 'list' ? 'a JSON array' : 'JSON'} in the cell` } };
  }
}
