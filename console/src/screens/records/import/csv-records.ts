/** CSV (RFC 4180) as raw text: cells keep their quotes, so that a change of names leaves the values as they are. */

/** The delimiters of cells, each with the pattern of the characters that structure a file. */
const PATTERNS = { ',': /[",\n]/g, ';': /[";\n]/g, '\t': /["\t\n]/g } as const;

/** A delimiter of cells. */
export type Delimiter = keyof typeof PATTERNS;

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t'];

/** A record of a CSV file. */
export interface CsvRecord {
  /** The cells as the file has them, with their quotes. */
  readonly cells: readonly string[];
  /** The line end, which the last record of a file may lack. */
  readonly end: string;
}

/** Splits a CSV file, which arrives in pieces, into records. */
export interface CsvSplitter {
  /** Adds text. Returns the records that it completes. */
  push(text: string): readonly CsvRecord[];
  /** Returns the last record, if the file does not end with a line end. */
  end(): readonly CsvRecord[];
}

/** Creates a splitter. A quote that is not closed makes the rest of the file one record, which the service refuses. */
export function createCsvSplitter(delimiter: Delimiter): CsvSplitter {
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRecord = (end: string): CsvRecord => {
    const record = { cells: [...cells, cell], end };
    cells = [];
    cell = '';
    return record;
  };
  const endLine = (): CsvRecord => {
    if (!cell.endsWith('\r')) return endRecord('\n');
    cell = cell.slice(0, -1);
    return endRecord('\r\n');
  };
  return {
    push(text) {
      const records: CsvRecord[] = [];
      let from = 0;
      for (const { 0: found, index } of text.matchAll(PATTERNS[delimiter])) {
        cell += text.slice(from, index);
        from = index + 1;
        if (found === '"') {
          // A quote opens a cell only as its first character. Of two quotes inside, the first closes the cell and the second opens it again.
          isQuoted = !isQuoted && (cell === '' || (cell.startsWith('"') && cell.endsWith('"')));
          cell += found;
        } else if (isQuoted) cell += found;
        else if (found === '\n') records.push(endLine());
        else {
          cells.push(cell);
          cell = '';
        }
      }
      cell += text.slice(from);
      return records;
    },
    end: () => (cells.length === 0 && cell === '' ? [] : [endRecord('')]),
  };
}

/** Returns true for an empty line, which the service skips. */
export function isEmptyLine({ cells }: CsvRecord): boolean {
  return cells.length === 1 && (cells[0] === '' || cells[0] === '""');
}

/** Returns the text of a cell without its quotes. */
export function unquoteCell(cell: string): string {
  return cell.length > 1 && cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

/** Returns a text as a cell. A text that a spreadsheet would run as a formula gets an apostrophe, as in exports of the service. */
export function toCsvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns the cells of the header: those of the first line that is not empty. Empty if the text has no such line. */
export function readHeader(text: string, delimiter: Delimiter): readonly string[] {
  const splitter = createCsvSplitter(delimiter);
  const header = [...splitter.push(text), ...splitter.end()].find((record) => !isEmptyLine(record));
  return header?.cells.map(unquoteCell) ?? [];
}

/** Returns the delimiter that splits the header into the most names of fields; of several, the one with the most cells. */
export function detectDelimiter(text: string, isField: (name: string) => boolean): Delimiter {
  const rankOf = (delimiter: Delimiter): number => {
    const names = readHeader(text, delimiter);
    return 1000 * names.filter(isField).length + Math.min(names.length, 999);
  };
  return DELIMITERS.reduce((best, each) => (rankOf(each) > rankOf(best) ? each : best));
}
