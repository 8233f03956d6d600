import { type Issue, Problem } from '../../errors.ts';
import { parseJsonInSteps } from '../../json-steps.ts';
import { describeValue, isObject, type JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { runInTurns } from '../../run-in-turns.ts';

/** The name of a file format. */
export type Format = 'ndjson' | 'csv' | 'json';

/** A file format. */
export interface FormatInfo {
  /** Media types that are accepted. Responses have the first media type. */
  readonly types: readonly [string, ...string[]];
  /** File extensions, without the dot. */
  readonly extensions: readonly string[];
}

/** The formats by name. A Map, so that `constructor` is not a format. */
export const FORMATS: ReadonlyMap<string, FormatInfo & { readonly name: Format }> = new Map(
  (
    [
      { name: 'ndjson', types: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'], extensions: ['ndjson', 'jsonl'] },
      { name: 'csv', types: ['text/csv'], extensions: ['csv', 'tsv'] },
      { name: 'json', types: ['application/json'], extensions: ['json'] },
    ] as const
  ).map((format) => [format.name, format]),
);

/** Returns the format of a media type, without regard to its parameters: `text/csv; charset=utf-8` is CSV. */
export function formatOfType(mediaType: string | undefined): Format | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return [...FORMATS.values()].find(({ types }) => (types as readonly string[]).includes(type))?.name;
}

/** A row of a file. */
export interface SourceRow {
  /** Number of the row from 1: the line in NDJSON, the row in CSV as a spreadsheet counts it (the header is 1), or the position in a JSON array. */
  readonly row: number;
  readonly data: JsonObject;
  /** The mistakes of cells that cannot be parsed. The fields of these cells are not in `data`. */
  readonly issues: readonly Issue[];
  /** Set if the row cannot be parsed. Parsing continues with the next row. */
  readonly problem?: Problem;
  /** Length of the row in characters. The lengths limit how many rows are held in memory. */
  readonly size: number;
}

/** Options for reading a file. */
export interface SourceOptions extends RowLimits {
  readonly format: Format;
  readonly resource: Resource;
  /** The delimiter of cells. Used only for CSV. */
  readonly delimiter: string;
  /** True if the apostrophe that an export puts before a text that looks like a formula is removed. Used only for CSV. */
  readonly guardFormulas: boolean;
}

/** Limits of a row. */
export interface RowLimits {
  /** Maximum characters of a row. */
  readonly rowLength: number;
  /** Maximum nesting depth of JSON. */
  readonly depth: number;
}

/** Parses the JSON text of a row. The caller must have limited the length of the text. */
export async function parseRow(row: number, text: string, { depth }: Pick<RowLimits, 'depth'>): Promise<SourceRow> {
  const size = text.length;
  try {
    const data = await runInTurns(parseJsonInSteps(text, { maxDepth: depth, subject: 'the row' }));
    if (isObject(data)) return { row, data, issues: [], size };
    return toUnreadable(row, `expected an object of fields, given ${describeValue(data)}`, size);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { row, data: {}, issues: [], problem: error, size };
  }
}

/** Returns a row that cannot be parsed, with the reason. */
export function toUnreadable(row: number, detail: string, size: number): SourceRow {
  return { row, data: {}, issues: [], problem: new Problem('REQUEST_MALFORMED', detail), size };
}
