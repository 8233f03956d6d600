/** A format of exported files. */
export type ExportFormat = 'csv' | 'ndjson' | 'json';

const [LINE_FEED, QUOTE, BRACE] = [...'\n"{'].map((character) => character.charCodeAt(0));

/** Returns a function that takes the next bytes of a file as the service writes it, and returns the number of rows so far. */
export function createRowCounter(format: ExportFormat): (bytes: Uint8Array) => number {
  const count = COUNTERS[format]();
  let rows = 0;
  return (bytes) => {
    for (const byte of bytes) if (count(byte)) rows++;
    return rows;
  };
}

/** The tests of each format for the byte that completes a row; in JSON, for the byte that begins one. */
const COUNTERS: Readonly<Record<ExportFormat, () => (byte: number) => boolean>> = {
  ndjson: () => (byte) => byte === LINE_FEED,
  // Each record begins a line. JSON has no line feeds inside texts.
  json() {
    let before: number | undefined;
    return (byte) => {
      const isRow = before === LINE_FEED && byte === BRACE;
      before = byte;
      return isRow;
    };
  },
  csv() {
    let isQuoted = false;
    let hasHeader = false;
    return (byte) => {
      // A quote inside a cell is doubled, so it changes nothing.
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte !== LINE_FEED || isQuoted) return false;
      const isRow = hasHeader;
      hasHeader = true;
      return isRow;
    };
  },
};
