import type { Field } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { toCell } from './csv.ts';
import type { Format } from './format.ts';

/** Options for writing a file. */
export interface WriteOptions {
  readonly format: Format;
  /** The fields of each record, in this order. */
  readonly fields: readonly Field[];
  /** The delimiter of cells. Used only for CSV. */
  readonly delimiter: string;
  /** True to put an apostrophe before texts that a spreadsheet would run as formulas. Used only for CSV. */
  readonly guardFormulas: boolean;
}

/** Renders a file in chunks. Call `begin`, then `rows` any number of times, then `end`. */
export interface RowWriter {
  begin(): string;
  rows(records: readonly JsonObject[]): string;
  end(): string;
}

/** Creates a writer for one file. */
export function createWriter(options: WriteOptions): RowWriter {
  return WRITERS[options.format](options);
}

const WRITERS: { readonly [F in Format]: (options: WriteOptions) => RowWriter } = {
  ndjson: () => ({
    begin: () => '',
    rows: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    end: () => '',
  }),
  json() {
    let isFirst = true;
    return {
      begin: () => '[',
      rows(records) {
        const separator = isFirst ? '\n' : ',\n';
        isFirst &&= records.length === 0;
        return records.length === 0 ? '' : separator + records.map((record) => JSON.stringify(record)).join(',\n');
      },
      end: () => '\n]\n',
    };
  },
  csv({ fields, delimiter, guardFormulas }) {
    const toRow = (cells: readonly string[]): string => `${cells.map((cell) => toQuoted(cell, delimiter)).join(delimiter)}\r\n`;
    return {
      begin: () => toRow(fields.map(({ name }) => name)),
      rows: (records) =>
        records.map((record) => toRow(fields.map((field) => toCell(field, record[field.name] ?? null, { guardFormulas })))).join(''),
      end: () => '',
    };
  },
};

/** Quotes a cell if it contains a delimiter, quote or line end (RFC 4180), or begins or ends with white space that readers may trim. */
function toQuoted(cell: string, delimiter: string): string {
  const needsQuotes = cell.includes(delimiter) || /["\r\n]|^\s|\s$/.test(cell);
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}
