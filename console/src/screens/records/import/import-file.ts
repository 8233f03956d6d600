/** A file to import, read as far as its columns are concerned, and written with the names of fields. */
import { type ImportType, mediaTypeOf } from '../../../api/import-records.ts';
import { dataTexts } from '../../../texts/data.ts';
import { type ColumnMapping, createFieldFinder, isUnchanged, type MappableField } from './column-mapping.ts';
import { type Delimiter, detectDelimiter, readHeader } from './csv-records.ts';
import { itemsOf, membersOf } from './json-texts.ts';
import { createCsvMapper, createLineMapper, createObjectMapper, type TextRewriter } from './map-rows.ts';

/** Bytes at the beginning of a file in which its columns are searched. */
const HEAD_BYTES = 1_000_000;
/** Maximum bytes of a JSON file whose columns can be mapped: it is read as a whole. Files in the other formats can have any size. */
const JSON_LIMIT = 50_000_000;
/** Maximum number of columns that can be mapped: more than a form can show. */
const MAX_COLUMNS = 200;

/** A file to import. */
export interface ImportFile {
  readonly name: string;
  /** The content. A JSON file whose rows were found is NDJSON here: a line for each row. */
  readonly content: Blob;
  readonly type: ImportType;
  /** The delimiter of a CSV file. */
  readonly delimiter: Delimiter;
  /** The names of the columns, or of the members of the first rows. Empty if they cannot be mapped. */
  readonly columns: readonly string[];
}

/** Reads the columns of a file. @throws Error if the file is not UTF-8 */
export async function openImportFile(file: File, fields: readonly Pick<MappableField, 'name'>[]): Promise<ImportFile> {
  const type = mediaTypeOf(file.name);
  const common = { name: file.name, content: file, type, delimiter: ',' as const };
  if (type === 'text/csv') {
    const head = await readText(file.slice(0, HEAD_BYTES));
    const find = createFieldFinder(fields);
    return withDelimiter(
      common,
      head,
      detectDelimiter(head, (name) => find(name) !== undefined),
    );
  }
  if (type === 'application/x-ndjson') return { ...common, columns: columnsOf(headLines(await readText(file.slice(0, HEAD_BYTES)), file)) };
  const rows = file.size > JSON_LIMIT ? undefined : rowsOf(await readText(file));
  if (rows === undefined) return { ...common, columns: [] };
  return { ...common, type: 'application/x-ndjson', content: new Blob([rows.join('\n')]), columns: columnsOf(rows) };
}

/** Returns a CSV file with the columns that another delimiter gives. */
export async function splitBy(file: ImportFile, delimiter: Delimiter): Promise<ImportFile> {
  return withDelimiter(file, await readText(file.content.slice(0, HEAD_BYTES)), delimiter);
}

function withDelimiter(file: Omit<ImportFile, 'columns'>, head: string, delimiter: Delimiter): ImportFile {
  return { ...file, delimiter, columns: ifMappable(readHeader(head, delimiter)) };
}

/** Returns the lines of the beginning of a file, without the last one if the file goes on. */
function headLines(head: string, { size }: Blob): readonly string[] {
  const lines = head.split('\n');
  return size > HEAD_BYTES ? lines.slice(0, -1) : lines;
}

function columnsOf(rows: readonly string[]): readonly string[] {
  return ifMappable([...new Set(rows.flatMap((row) => membersOf(row)?.map(({ name }) => name) ?? []))]);
}

function ifMappable(columns: readonly string[]): readonly string[] {
  return columns.length > MAX_COLUMNS ? [] : columns;
}

/** Returns the rows of a list, or of the list `data` of an object, each in a line; undefined if the text has none. */
function rowsOf(text: string): readonly string[] | undefined {
  const list = membersOf(text)?.find(({ name }) => name === 'data')?.value ?? text;
  return itemsOf(list)?.map((row) => row.replaceAll(/[\r\n]+/g, ' '));
}

/** Returns the body of an import: the file itself if its columns have the names of fields, otherwise with the names of the mapping. */
export async function mapFile(file: ImportFile, mapping: ColumnMapping): Promise<Blob> {
  const { content, type, delimiter, columns } = file;
  if (columns.length === 0 || isUnchanged(columns, mapping)) return content;
  const mapper = type === 'text/csv' ? createCsvMapper(mapping, delimiter) : createLineMapper(createObjectMapper(columns, mapping));
  return rewriteBlob(content, mapper);
}

/** Returns a text file that was changed piece by piece. @throws Error if the file is not UTF-8 */
export async function rewriteBlob(content: Blob, { push, end }: TextRewriter): Promise<Blob> {
  const pieces: Blob[] = [];
  const decoder = createDecoder();
  const reader = content.stream().getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(new Blob([push(decoder(next.value))]));
  pieces.push(new Blob([push(decoder()), end()]));
  return new Blob(pieces);
}

async function readText(content: Blob): Promise<string> {
  // The end of a part of a file can be inside a character.
  return createDecoder()(new Uint8Array(await content.arrayBuffer()));
}

/** Creates a decoder that removes a byte order mark. Without bytes, it requires that the last character is complete. */
function createDecoder(): (bytes?: Uint8Array<ArrayBuffer>) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (bytes) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw new Error(dataTexts.importing.encoding, { cause: error });
    }
  };
}
