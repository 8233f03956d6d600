/**
 * File formats: reading and writing of records as NDJSON, CSV and JSON arrays, streamed, so that memory does not grow with the file.
 *
 * CSV cells are texts, so parsing needs the definition of the resource. A row that cannot be parsed is reported with its number;
 * reading ends only if later rows cannot be found. This folder makes no access decisions and does not use the database.
 * Begin with `read-rows.ts` and `write-rows.ts`.
 */
export { FORMATS, type Format, formatOfType, type SourceOptions, type SourceRow } from './format.ts';
export { detectFormat, readObjects, readRows } from './read-rows.ts';
export { createWriter, type RowWriter, type WriteOptions } from './write-rows.ts';
