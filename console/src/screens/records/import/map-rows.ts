/** Changes the rows of a file: columns get the names of their fields, and columns that are left out disappear. Row numbers stay the same. */
import type { ColumnMapping } from './column-mapping.ts';
import { type CsvRecord, createCsvSplitter, type Delimiter, isEmptyLine } from './csv-records.ts';
import { membersOf, toObjectText } from './json-texts.ts';

/** A text that arrives in pieces is changed piece by piece. */
export interface TextRewriter {
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

/** Creates the rewriter of a CSV file. Cells stay as the file has them. */
export function createCsvMapper(mapping: ColumnMapping, delimiter: Delimiter): TextRewriter {
  const splitter = createCsvSplitter(delimiter);
  let hasHeader = false;
  const kept = mapping.flatMap((field, index) => (field === null ? [] : [index]));
  const rewrite = (record: CsvRecord): string => {
    if (isEmptyLine(record)) return record.cells.join(delimiter) + record.end;
    const { cells, end } = record;
    if (!hasHeader) {
      hasHeader = true;
      return mapping.filter((field) => field !== null).join(delimiter) + end;
    }
    if (cells.length === mapping.length) return kept.map((index) => cells[index] ?? '').join(delimiter) + end;
    return delimiter.repeat(misfit(cells.length - mapping.length, kept.length) - 1) + end;
  };
  const rewriteAll = (records: readonly CsvRecord[]): string => records.map(rewrite).join('');
  return { push: (text) => rewriteAll(splitter.push(text)), end: () => rewriteAll(splitter.end()) };
}

/** Returns a number of cells for a row with too many or too few, so that the service still refuses it. One empty cell would be an empty line. */
function misfit(difference: number, kept: number): number {
  const cells = kept + difference;
  return cells > 1 ? cells : Math.max(2, kept + 1);
}

/** Creates the rewriter of an NDJSON file. The function returns undefined for a line that disappears. Lines are counted from 1. */
export function createLineMapper(rewriteLine: (line: string, row: number) => string | undefined): TextRewriter {
  let rest = '';
  let row = 0;
  const rewriteAll = (lines: readonly string[]): string =>
    lines
      .map((line) => rewriteLine(line, ++row))
      .filter((line) => line !== undefined)
      .map((line) => `${line}\n`)
      .join('');
  return {
    push(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      return rewriteAll(lines);
    },
    end: () => (rest === '' ? '' : rewriteAll([rest])),
  };
}

/**
 * Returns the function that gives the members of an object the names of their fields. Members that are no column stay, and so does a text that is
 * no object: the service refuses them.
 */
export function createObjectMapper(columns: readonly string[], mapping: ColumnMapping): (text: string) => string {
  const fields = new Map(columns.map((column, index) => [column, mapping[index] ?? null]));
  return (text) => {
    const members = membersOf(text);
    if (members === undefined) return text;
    const renamed = members.flatMap(({ name, value }) => {
      const field = fields.has(name) ? fields.get(name) : name;
      return typeof field === 'string' ? [{ name: field, value }] : [];
    });
    return toObjectText(renamed);
  };
}
