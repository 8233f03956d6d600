/** The rows that an import rejected, as a file of the same format: corrected, it can be imported again. */
import type { RejectedRow } from '../../../api/import-records.ts';
import { type CsvRecord, createCsvSplitter, type Delimiter, isEmptyLine, toCsvCell } from './csv-records.ts';
import { type ImportFile, rewriteBlob } from './import-file.ts';
import { membersOf, toObjectText } from './json-texts.ts';
import { createLineMapper, type TextRewriter } from './map-rows.ts';

/** The column of the reasons. No field has this name, because it contains a space: the next import leaves the column out. */
export const REASON_COLUMN = 'import error';

/** A mistake, and the rows that have it, in ascending order. */
export interface RepeatedMistake {
  readonly mistake: string;
  readonly rows: readonly number[];
}

/** Returns each mistake once, those of the fewest rows first: a rare mistake is otherwise hidden among many equal ones. */
export function groupMistakes(rejected: readonly RejectedRow[]): readonly RepeatedMistake[] {
  const rows = new Map<string, Set<number>>();
  for (const each of rejected) for (const mistake of mistakesOf(each)) rows.set(mistake, (rows.get(mistake) ?? new Set()).add(each.row));
  return [...rows]
    .map(([mistake, found]) => ({ mistake, rows: [...found].toSorted((a, b) => a - b) }))
    .toSorted((a, b) => a.rows.length - b.rows.length || (a.rows[0] ?? 0) - (b.rows[0] ?? 0));
}

/** The first and the last of successive rows. */
export type RowRange = readonly [first: number, last: number];

/** Returns rows in ascending order as ranges. */
export function toRanges(rows: readonly number[]): readonly RowRange[] {
  const ranges: [number, number][] = [];
  for (const row of rows) {
    const range = ranges.at(-1);
    if (range !== undefined && row === range[1] + 1) range[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}

/** Returns the mistakes of a row, each with its field. */
function mistakesOf({ detail, errors = [] }: Pick<RejectedRow, 'detail' | 'errors'>): readonly string[] {
  return errors.length === 0 ? [detail] : errors.map(({ path, detail: mistake }) => `${path}: ${mistake}`);
}

/** Returns the rejected rows of a file as the file has them, each with its reason. */
export function selectRejected(file: ImportFile, rejected: readonly RejectedRow[]): Promise<Blob> {
  const reasons = new Map(rejected.map((row) => [row.row, mistakesOf(row).join('; ')]));
  return rewriteBlob(file.content, file.type === 'text/csv' ? createCsvSelector(reasons, file.delimiter) : createLineSelector(reasons));
}

/** Creates the rewriter that keeps the header and the rejected rows of a CSV file. Rows are counted as the service counts them. */
function createCsvSelector(reasons: ReadonlyMap<number, string>, delimiter: Delimiter): TextRewriter {
  const splitter = createCsvSplitter(delimiter);
  let row = 0;
  let hasHeader = false;
  const select = (record: CsvRecord): string => {
    row++;
    const reason = reasons.get(row);
    const isHeader = !hasHeader && !isEmptyLine(record);
    if (!isHeader && reason === undefined) return '';
    hasHeader = true;
    return [...record.cells, toCsvCell(isHeader ? REASON_COLUMN : (reason ?? ''))].join(delimiter) + (record.end || '\n');
  };
  const selectAll = (records: readonly CsvRecord[]): string => records.map(select).join('');
  return { push: (text) => selectAll(splitter.push(text)), end: () => selectAll(splitter.end()) };
}

function createLineSelector(reasons: ReadonlyMap<number, string>): TextRewriter {
  return createLineMapper((line, row) => {
    const reason = reasons.get(row);
    if (reason === undefined) return undefined;
    const members = membersOf(line) ?? [{ name: 'line', value: JSON.stringify(line) }];
    return toObjectText([...members, { name: REASON_COLUMN, value: JSON.stringify(reason) }]);
  });
}
