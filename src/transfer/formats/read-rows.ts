import type { Issue, Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { parseCsv } from './csv.ts';
import { decodeText } from './detect-format.ts';
import type { Format } from './format.ts';
import { parseJsonArray } from './json-array.ts';
import { parseNdjson } from './ndjson.ts';

/** One row of a file: the fields of a record, or why it is none. */
export interface SourceRow {
  /**
   * Where it stands, so that a person finds it: the line of NDJSON, the row of CSV as a spreadsheet numbers them (the
   * header is 1), the place in a JSON array; all from 1.
   */
  readonly row: number;
  readonly data: JsonObject;
  /** Cells that could not be read as what their field expects; those fields are not in `data`. */
  readonly issues: readonly Issue[];
  /** Set where the row could not be read at all; rows behind it can. */
  readonly problem?: Problem;
  /** Characters that it took: what reading it ahead costs. */
  readonly size: number;
}

/** How a file is read. */
export interface SourceOptions {
  readonly format: Format;
  readonly resource: Resource;
  /** Characters of one row. */
  readonly rowLength: number;
  /** Nesting of one row. */
  readonly depth: number;
  /** Of CSV: what stands between cells. */
  readonly delimiter: string;
  /** Of CSV: whether an apostrophe that keeps a spreadsheet from reading a cell as a formula is taken away again. */
  readonly guardFormulas: boolean;
}

/**
 * The rows of a file as its bytes arrive. Throws REQUEST_MALFORMED where what follows cannot be told apart any more: bytes
 * that are not UTF-8, a quote that is never closed, an array that breaks off.
 */
export function readRows(bytes: AsyncIterable<Uint8Array>, options: SourceOptions): AsyncIterable<SourceRow> {
  const texts = decodeText(bytes);
  switch (options.format) {
    case 'ndjson':
      return parseNdjson(texts, options);
    case 'csv':
      return parseCsv(texts, options);
    case 'json':
      return parseJsonArray(texts, options);
  }
}
