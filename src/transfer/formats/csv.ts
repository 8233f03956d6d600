import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CsvError } from 'csv-parse';
import { didYouMean, type Issue, Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { readCell } from './csv-cells.ts';
import { toUnreadable } from './parse-line.ts';
import type { SourceOptions, SourceRow } from './read-rows.ts';

const TOO_LONG = 'expected shorter rows: this one is longer than a row may be';
/** Mistakes listed of one header. */
const MOST_MISTAKES = 100;
const MOST_SUGGESTIONS = 10;
const DELIMITERS = [',', ';', '\t'];

/**
 * CSV as RFC 4180 has it, its first row the names of fields. An empty cell says nothing of its field: a new record gets the
 * default, a stored one keeps what it has. Throws REQUEST_MALFORMED for a header that is none.
 */
export async function* parseCsv(texts: AsyncIterable<string>, options: SourceOptions): AsyncGenerator<SourceRow> {
  let header: readonly string[] | undefined;
  let row = 0;
  let headerRow: number | undefined;
  // The header is read as soon as it is parsed: a wrong delimiter is told by it, and not by a quote that it puts out of place rows later.
  const seeParsed = (cells: readonly string[]): void => {
    if (!isEmptyLine(cells)) header ??= readHeader(cells, options);
  };
  for await (const cells of parseRows(texts, { ...options, seeParsed })) {
    row++;
    // Nothing of ours, yet a spreadsheet counts it.
    if (header === undefined || isEmptyLine(cells)) continue;
    headerRow ??= row;
    if (row > headerRow) yield readRow({ row, header, cells }, options);
  }
  if (header === undefined) throw new Problem('REQUEST_MALFORMED', 'expected a row with the names of fields, given no row at all');
}

function isEmptyLine(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === '';
}

interface Given {
  readonly row: number;
  readonly header: readonly string[];
  readonly cells: readonly string[];
}

function readRow({ row, header, cells }: Given, options: SourceOptions): SourceRow {
  const size = cells.reduce((sum, cell) => sum + cell.length, cells.length);
  if (cells.length !== header.length)
    return toUnreadable(row, `expected ${header.length} cells, as in the header, given ${cells.length}`, size);
  const values: [string, Json][] = [];
  const issues: Issue[] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const read = readCell(options.resource.fields.get(name), cell, options);
    if ('issue' in read) issues.push(read.issue);
    else values.push([name, read.value]);
  }
  // Object.fromEntries defines properties: a column named __proto__ is one like any other, and no field.
  return { row, data: Object.fromEntries(values), issues, size };
}

/** A column that is no field would spoil each row: told once, before the first. */
function readHeader(cells: readonly string[], { resource, delimiter }: SourceOptions): readonly string[] {
  const seen = new Set<string>();
  const errors: Issue[] = [];
  const writable = [...resource.fields.values()].filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  for (const [index, name] of cells.entries()) {
    if (errors.length >= MOST_MISTAKES) break;
    const place = `column ${index + 1}`;
    const shown = JSON.stringify(name.slice(0, 64));
    if (seen.has(name)) errors.push({ path: place, code: 'duplicate', detail: `expected each column once, given ${shown} again` });
    else if (!resource.fields.has(name)) {
      const other = cells.length === 1 ? suggestDelimiter(name, { resource, delimiter }) : '';
      const near = other === '' && errors.length < MOST_SUGGESTIONS ? didYouMean(name, writable) : other;
      errors.push({ path: place, code: 'unknown', detail: `expected the name of a field, given ${shown}${near}` });
    }
    seen.add(name);
  }
  if (errors.length === 0) return cells;
  throw new Problem('REQUEST_MALFORMED', `the header has ${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}`, { errors });
}

/** A header in one piece that another delimiter would part into names of fields: spreadsheets write `;` in half of the world. */
function suggestDelimiter(header: string, { resource, delimiter }: Pick<SourceOptions, 'resource' | 'delimiter'>): string {
  const parts = (other: string): readonly string[] => header.split(other, MOST_MISTAKES);
  const meant = DELIMITERS.find((other) => other !== delimiter && parts(other).some((part) => resource.fields.has(part)));
  return meant === undefined ? '' : ` (did you mean the delimiter ${meant === '\t' ? 'tab' : JSON.stringify(meant)}?)`;
}

interface Parsing extends SourceOptions {
  /** Is handed each row as it is parsed, before it can be asked for. May throw. */
  readonly seeParsed: (cells: readonly string[]) => void;
}

async function* parseRows(texts: AsyncIterable<string>, { delimiter, rowLength, seeParsed }: Parsing): AsyncGenerator<readonly string[]> {
  // What it takes is not loaded where nobody imports CSV.
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: rowLength,
    relax_column_count: true,
    // Empty cells are no characters to it, and a row of nothing but delimiters would never be too long.
    cast: (cell, { index }) => (index < rowLength ? cell : refuseLength()),
    on_record: (cells: string[]) => {
      seeParsed(cells);
      return cells;
    },
  });
  const fed = pipeline(Readable.from(texts, { objectMode: true }), parser);
  // What goes wrong in it comes out of the parser too, where it is waited for.
  fed.catch(() => undefined);
  try {
    for await (const record of parser) yield record as readonly string[];
  } catch (error) {
    throw error instanceof CsvError ? toProblem(error) : error;
  }
}

function refuseLength(): never {
  throw new Problem('REQUEST_MALFORMED', TOO_LONG);
}

/** Its own words repeat what was sent. */
function toProblem(error: CsvError): Problem {
  const line = typeof error['lines'] === 'number' ? ` in line ${error['lines']}` : '';
  const detail = MISTAKES.get(error.code) ?? 'expected CSV as RFC 4180 has it';
  return new Problem('REQUEST_MALFORMED', `${detail}${line}`, { cause: error });
}

const MISTAKES: ReadonlyMap<string, string> = new Map([
  ['CSV_QUOTE_NOT_CLOSED', 'expected a closing quote before the end of the file, for the one that opens'],
  ['CSV_INVALID_CLOSING_QUOTE', 'expected a delimiter behind a closing quote'],
  ['INVALID_OPENING_QUOTE', 'expected quotes around a whole cell, given one inside'],
  ['CSV_MAX_RECORD_SIZE', TOO_LONG],
]);
