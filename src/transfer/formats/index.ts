/**
 * Records as files: NDJSON, CSV and JSON arrays, read and written piece by piece, so that memory does not grow with the file.
 *
 * It knows what a definition says of a field, for cells of CSV are text. It must never decide anything, reach a database,
 * hold more than one row, or know where bytes come from. What cannot be read as a row is told as such a row's problem;
 * only where nothing behind it could be read either, reading ends.
 *
 * Begin with `source.ts`, what is read, and `write.ts`; then one file for each format.
 */
export { detectFormat } from './detect-format.ts';
export { FORMATS, type Format, formatOfType } from './format.ts';
export { readObjects } from './ndjson.ts';
export { readRows, type SourceOptions, type SourceRow } from './read-rows.ts';
export { createWriter, type RowWriter, type WriteOptions } from './write-rows.ts';
