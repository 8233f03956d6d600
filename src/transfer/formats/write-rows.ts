import type { Field } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { toCell } from './csv-cells.ts';
import type { Format } from './format.ts';

/** How a file is written. */
export interface WriteOptions {
  readonly format: Format;
  /** What each record shows, in this order. */
  readonly fields: readonly Field[];
  /** Of CSV: what stands between cells. */
  readonly delimiter: string;
  /** Of CSV: whether an apostrophe keeps spreadsheets from reading a text as a formula. */
  readonly guardFormulas: boolean;
}

/** The pieces of a file, in order. Memory holds what one call gives and no more. */
export interface RowWriter {
  begin(): string;
  rows(records: readonly JsonObject[]): string;
  end(): string;
}

/** A writer of one file. */
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

/** RFC 4180: quotes where a cell holds what would end it, and where its ends are white space that readers may trim. */
function toQuoted(cell: string, delimiter: string): string {
  const needsQuotes = cell.includes(delimiter) || /["\r\n]|^\s|\s$/.test(cell);
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}
