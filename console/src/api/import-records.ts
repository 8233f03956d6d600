/** Imports of records: a file is sent, and lines with the progress, rejected rows and the summary come back. */

import { dataTexts } from '../texts/data.ts';
import { sendAuthorized } from './client.ts';
import { type Issue, RequestError, readProblem } from './problem.ts';

/** Numbers of rows. */
export interface ImportCounts {
  readonly imported: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
}

/** A row that was not imported. */
export interface RejectedRow {
  readonly row: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly Issue[];
}

/** A line of the response. */
export type ImportLine =
  | { readonly kind: 'progress'; readonly counts: ImportCounts; readonly row: number }
  | { readonly kind: 'rejected'; readonly rejected: RejectedRow }
  | { readonly kind: 'end'; readonly counts: ImportCounts };

/** Options of an import. */
export interface ImportOptions {
  readonly dryRun: boolean;
  readonly skipsRejected: boolean;
  /** The unique field by which records that exist are updated. */
  readonly key: string | undefined;
}

/** A media type of a file that can be imported. */
export type ImportType = 'text/csv' | 'application/x-ndjson' | 'application/json';

/** The rows to import. */
export interface ImportBody {
  readonly content: Blob;
  readonly type: ImportType;
  /** The delimiter of CSV. */
  readonly delimiter: string;
  /** Ends the import. The rows stored so far stay. */
  readonly signal: AbortSignal;
}

/** Imports rows. Yields each line of the response. @throws RequestError if the import is refused or stops */
export async function* importRecords(
  resource: string,
  { content, type, delimiter, signal }: ImportBody,
  options: ImportOptions,
): AsyncGenerator<ImportLine> {
  const url = new URL(`/api/${encodeURIComponent(resource)}/import`, location.origin);
  url.searchParams.set('progress', 'true');
  if (options.dryRun) url.searchParams.set('dryRun', 'true');
  if (options.skipsRejected) url.searchParams.set('onError', 'skip');
  if (options.key !== undefined) {
    url.searchParams.set('mode', 'upsert');
    url.searchParams.set('key', options.key);
  }
  if (type === 'text/csv') url.searchParams.set('delimiter', delimiter === '\t' ? 'tab' : delimiter);
  const response = await sendAuthorized(new Request(url, { method: 'POST', headers: { 'content-type': type }, body: content, signal }));
  if (!response.ok || response.body === null) throw await readProblem(response);
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  while (true) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw signal.aborted ? error : toLostAnswer();
    });
    // Without a line break, the last line is incomplete.
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield parseImportLine(line);
  }
}

/** Returns the error of an import whose response ended before its last line. */
export function toLostAnswer(): RequestError {
  return new RequestError({ title: dataTexts.importing.noEnd, status: 0, code: 'NETWORK' });
}

/** Parses a line of the response. @throws RequestError if the line is a problem */
export function parseImportLine(line: string): ImportLine {
  const content = JSON.parse(line);
  if (content.success === false) throw new RequestError(content);
  if (content.success === true) return { kind: 'end', counts: content.data };
  if (content.progress !== undefined) return { kind: 'progress', counts: content.progress, row: content.progress.row };
  return { kind: 'rejected', rejected: content };
}

/** Returns the media type of a file by the end of its name. */
export function mediaTypeOf(name: string): ImportType {
  if (/\.[ct]sv$/i.test(name)) return 'text/csv';
  return /\.json$/i.test(name) ? 'application/json' : 'application/x-ndjson';
}
