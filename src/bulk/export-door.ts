/** The door of exports: what a call asks for, by its query, body and headers, and how it is answered. */
import { readCaller } from '../asked.ts';
import { Problem } from '../errors.ts';
import { type Answer, type ApiRequest, type Call, readActionRequest, readExportQuery } from '../request/index.ts';
import { createWriter, FORMATS, type Format, type RowWriter } from '../transfer/index.ts';
import { type ExportPage, runExport } from './export.ts';
import { type Attended, entryHeader, type Plain, readAccepted, type TransferParts } from './parts.ts';

/** Answers an export as a file, or gives the request for a page, where no format of a file is asked for. */
export async function answerExport(parts: TransferParts, call: Call, attended?: Attended): Promise<Answer | Plain> {
  const { format: named, ...cells } = readExportQuery(call, [...FORMATS.keys()]);
  const format = (named as Format | undefined) ?? readAccepted(call).find((accepted) => accepted !== 'json');
  const request = readActionRequest({ ...call, query: new Map() }, parts.limits, 'export');
  if (format === undefined) return { plain: request };
  checkNoPage(request);
  const caller = attended?.caller ?? (await readCaller(parts, call.origin));
  const pages = runExport(parts, caller, request);
  // The first page is read before anything is answered: who is denied gets a problem, not a file that breaks off.
  const first = await pages.next();
  if (first.done === true) throw new Error('an export has at least one page');
  const writer = createWriter({ format, fields: first.value.fields, ...cells });
  const [type] = FORMATS.get(format)?.types ?? ['application/octet-stream'];
  return {
    status: 200,
    headers: { ...entryHeader(first.value.decisionId), 'content-disposition': `attachment; filename="${request.resource}.${format}"` },
    body: undefined,
    contentType: format === 'csv' ? `${type}; charset=utf-8; header=present` : type,
    pieces: writePages({ writer, first: first.value, others: pages, tell: attended?.tell }),
  };
}

interface Pages {
  readonly writer: RowWriter;
  readonly first: ExportPage;
  readonly others: AsyncIterable<ExportPage>;
  readonly tell: Attended['tell'] | undefined;
}

async function* writePages({ writer, first, others, tell }: Pages): AsyncGenerator<string> {
  yield writer.begin();
  yield writer.rows(first.records);
  tell?.(first.records.length);
  for await (const { records } of others) {
    yield writer.rows(records);
    tell?.(records.length);
  }
  yield writer.end();
}

/** A file has all of the records, or the first so many: pages are for lists. */
function checkNoPage({ cursor, offset, total }: ApiRequest): void {
  if (cursor === undefined && offset === undefined && !total) return;
  throw new Problem('REQUEST_MALFORMED', 'expected no cursor, offset or total for a file, which has every record');
}
