/**
 * An export of any length: page after page by the cursor of the page before, each a transaction that decides anew. A
 * revoke that has returned is in force for the next page: the export breaks off there.
 */

import type { AuditEntry } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import {
  appendEntries,
  authenticate,
  type Caller,
  createRequestContext,
  type PipelineDeps,
  runPipeline,
  type UnitOfWork,
  withAuditMode,
  withUnitOfWork,
} from '../pipeline/index.ts';
import { type ApiRequest, type HttpRequest, type HttpResponse, parseActionRequest, parseExportQuery } from '../request/index.ts';
import { columnsOf, type Resource } from '../resources/index.ts';
import { createWriter, FORMATS, type Format, type RowWriter } from './formats/index.ts';
import { type AttendedTransfer, entryHeader, type Plain, readAccepted, type TransferDeps } from './transfer-deps.ts';

/** Records of a page at most: how long others wait. */
const PAGE_ROWS = 250;
/** Of the first page, of which nothing is known yet. */
const FIRST_ROWS = 16;
/** Characters that a page should come to: what memory holds. */
const PAGE_SIZE = 1_000_000;

/** Some of the records, in order. */
export interface ExportPage {
  readonly records: readonly JsonObject[];
  /** What each of them shows, in this order. */
  readonly fields: readonly Field[];
  /** The entry of the decision that this page rests on. */
  readonly decisionId: string | undefined;
}

/**
 * The pages of an export, at least one. It leaves one entry where it begins, and one more where a page rests on
 * other policies or another reason. Throws the problem of a page that is refused.
 */
export async function* runExport(parts: PipelineDeps, caller: Caller, request: ApiRequest): AsyncGenerator<ExportPage> {
  let decided: Decided | undefined;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  let rows = FIRST_ROWS;
  do {
    const asked: ApiRequest = { ...request, cursor, limit: Math.min(rows, left) };
    const before = decided;
    const page = await withAuditMode(parts, (record) => withUnitOfWork(parts, { caller }, (tx) => runPage(tx, asked, { before, record })));
    if ('problem' in page) throw page.problem;
    decided = page.decided;
    left -= page.records.length;
    rows = rowsAfter(rows, page.records);
    cursor = left > 0 ? page.nextCursor : undefined;
    yield { records: page.records, fields: page.fields, decisionId: decided?.entryId };
  } while (cursor !== undefined);
}

/** How many to ask for behind a page of `rows`: by how long its records are, and no more than four times as many, for those may be longer. */
export function rowsAfter(rows: number, records: readonly JsonObject[]): number {
  const size = records.reduce((sum, record) => sum + sizeOf(record), 1);
  const fitting = Math.ceil((PAGE_SIZE * records.length) / size);
  return records.length === 0 ? rows : Math.min(PAGE_ROWS, 4 * rows, fitting);
}

/** About how many characters it takes to write. */
function sizeOf(record: JsonObject): number {
  return Object.values(record).reduce<number>((sum, value) => sum + lengthOf(value), 0);
}

function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 8;
}

/** What the pages so far rest on. */
interface Decided {
  readonly entryId: string;
  readonly epoch: number;
  readonly reason: string;
}

interface Recording {
  readonly before: Decided | undefined;
  /** Whether entries are to be written. */
  readonly record: boolean;
}

async function runPage(asked: UnitOfWork, request: ApiRequest, { before, record }: Recording) {
  const job = createRequestContext(asked, request);
  const outcome = await runPipeline(job);
  const [entry] = job.entries;
  const isNew = 'problem' in outcome || entry?.epoch !== before?.epoch || entry?.reason !== before?.reason;
  if (isNew && record) await appendEntries(job, outcome);
  if ('problem' in outcome) return outcome;
  return {
    records: outcome.result.data as readonly JsonObject[],
    nextCursor: outcome.result.extras?.['nextCursor'] as string | undefined,
    fields: shownFields(job.resource, request.fields),
    // One that is not on the record yet is tried again with the next page.
    decided: isNew && record ? toDecided(entry) : before,
  };
}

function toDecided(entry: AuditEntry | undefined): Decided | undefined {
  return entry && { entryId: entry.id, epoch: entry.epoch, reason: entry.reason };
}

/** In the order that they are asked for, the id in front where it is not asked for; otherwise in that of the definition. */
function shownFields(resource: Resource, names: readonly string[] | undefined): readonly Field[] {
  const shown = columnsOf(resource)
    .map(({ field }) => field)
    .filter(({ writeOnly }) => !writeOnly);
  if (names === undefined) return shown;
  const asked = names.includes('id') ? names : ['id', ...names];
  return [...new Set(asked)].flatMap((name) => shown.filter((field) => field.name === name));
}

/*  The door of exports: what a call asks for, by its query, body and headers, and how it is answered. */

/** Answers an export as a file, or gives the request for a page, where no format of a file is asked for. */
export async function answerExport(parts: TransferDeps, call: HttpRequest, attended?: AttendedTransfer): Promise<HttpResponse | Plain> {
  const { format: named, ...cells } = parseExportQuery(call, [...FORMATS.keys()]);
  const format = (named as Format | undefined) ?? readAccepted(call).find((accepted) => accepted !== 'json');
  const request = parseActionRequest({ ...call, query: new Map() }, parts.limits, 'export');
  if (format === undefined) return { plain: request };
  checkNoPage(request);
  const caller = attended?.caller ?? (await authenticate(parts, call.origin));
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
    pieces: writePages({ writer, first: first.value, others: pages, onProgress: attended?.onProgress }),
  };
}

interface Pages {
  readonly writer: RowWriter;
  readonly first: ExportPage;
  readonly others: AsyncIterable<ExportPage>;
  readonly onProgress: AttendedTransfer['onProgress'] | undefined;
}

async function* writePages({ writer, first, others, onProgress }: Pages): AsyncGenerator<string> {
  yield writer.begin();
  yield writer.rows(first.records);
  onProgress?.(first.records.length);
  for await (const { records } of others) {
    yield writer.rows(records);
    onProgress?.(records.length);
  }
  yield writer.end();
}

/** A file has all of the records, or the first so many: pages are for lists. */
function checkNoPage({ cursor, offset, total }: ApiRequest): void {
  if (cursor === undefined && offset === undefined && !total) return;
  throw new Problem('REQUEST_MALFORMED', 'expected no cursor, offset or total for a file, which has every record');
}
