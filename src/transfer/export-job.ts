/**
 * Exports of any length, page by page with cursor pagination. Each page is a transaction that identifies the caller and decides again, so an
 * expired token, a revoked session or a revoked permission ends the export at the next page.
 */
import type { AuditEntry } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import {
  appendWithOutcome,
  authenticate,
  type Caller,
  createRequestContext,
  type PipelineDeps,
  problemWithEntryId,
  runPipeline,
  toNamedProblem,
  type UnitOfWork,
  withAuditMode,
  withUnitOfWork,
} from '../pipeline/index.ts';
import {
  type ApiRequest,
  exportQuerySchema,
  type HttpRequest,
  type HttpResponse,
  parseActionRequest,
  parseExportQuery,
  refuseMistakes,
} from '../request/index.ts';
import { columnsOf, type Resource } from '../resources/index.ts';
import type { CursorPosition } from '../storage/index.ts';
import { createWriter, FORMATS, type Format, type RowWriter } from './formats/index.ts';
import { entryHeader, type PlainRequest, parseAccept, type TransferDeps, type TransferObserver } from './transfer-deps.ts';

/** Maximum records of a page, which limits how long other requests wait. */
const MAX_PAGE_ROWS = 250;
/** Records of the first page, before the length of records is known. */
const FIRST_ROWS = 16;
/** Target characters of a page, which limits memory. */
const PAGE_SIZE = 1_000_000;

/** A page of an export. */
export interface ExportPage {
  readonly records: readonly JsonObject[];
  /** The fields of each record, in this order. */
  readonly fields: readonly Field[];
  /** Id of the audit entry of the decision. */
  readonly decisionId: string | undefined;
}

/**
 * Yields the pages of an export, at least one. The first page appends an audit entry; a later page appends one if its decision has another
 * revision or reason. Throws the problem of a denied page and of a refused token, and REQUEST_FIELD if a migration changes the fields meanwhile:
 * the later records would lack values, or have others than the header of the file says.
 */
export async function* runExport(deps: PipelineDeps, caller: Caller, request: ApiRequest): AsyncGenerator<ExportPage> {
  let decided: PageDecision | undefined;
  let exported: string | undefined;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  let after: CursorPosition | undefined;
  let rows = FIRST_ROWS;
  // After a page that needs a long attempt, later pages need one too, and a short attempt before each would be wasted.
  let beginsLong = false;
  do {
    if (cursor !== undefined) await caller.verifyToken();
    const pageRequest: ApiRequest = { ...request, cursor, limit: Math.min(rows, left) };
    const previous = decided;
    const page = await withAuditMode(deps, (record) =>
      withUnitOfWork(deps, { caller, beginsLong, withEntryIds: pageWithEntryId }, (unit) =>
        runPage(unit, pageRequest, { previous, record, after }),
      ),
    );
    if ('problem' in page) throw toNamedProblem(page);
    const fields = describeFields(page.fields);
    exported ??= fields;
    if (fields !== exported) throw toChangedFields(request.resource);
    decided = page.decided;
    beginsLong = page.wasLong;
    left -= page.records.length;
    rows = nextPageSize(rows, page.records);
    cursor = left > 0 ? page.nextCursor : undefined;
    after = page.next;
    yield { records: page.records, fields: page.fields, decisionId: decided?.entryId };
  } while (cursor !== undefined);
}

/**
 * Returns the number of rows of the next page, estimated from the length of `records`, the page of `rows` rows before it. At most four
 * times `rows`, because later records can be longer.
 */
export function nextPageSize(rows: number, records: readonly JsonObject[]): number {
  const size = records.reduce((sum, record) => sum + sizeOf(record), 1);
  const fitting = Math.ceil((PAGE_SIZE * records.length) / size);
  return records.length === 0 ? rows : Math.min(MAX_PAGE_ROWS, 4 * rows, fitting);
}

/** Estimates the number of characters of a record in the file. */
function sizeOf(record: JsonObject): number {
  return Object.values(record).reduce<number>((sum, value) => sum + lengthOf(value), 0);
}

function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 8;
}

/** Returns the names and types of fields as a text. */
function describeFields(fields: readonly Field[]): string {
  return fields.map(({ name, type, of }) => `${name}:${type}:${of?.type ?? ''}`).join();
}

function toChangedFields(resource: string): Problem {
  return new Problem('REQUEST_FIELD', `a migration changed the fields of ${resource} during the export`, { hint: 'run the export again' });
}

/** The decision of the latest audited page. */
interface PageDecision {
  readonly entryId: string;
  readonly revision: number;
  readonly reason: string;
}

interface PageOptions {
  /** The position of the cursor, which may lack sort values. */
  readonly after: CursorPosition | undefined;
  readonly previous: PageDecision | undefined;
  /** True if audit entries are appended. */
  readonly record: boolean;
}

type PageOutcome = Awaited<ReturnType<typeof runPage>>;

function pageWithEntryId(page: PageOutcome, findEntryId: (decisionId: string) => string): PageOutcome {
  return 'problem' in page ? { ...page, problem: problemWithEntryId(page.problem, findEntryId) } : page;
}

async function runPage(unit: UnitOfWork, request: ApiRequest, { after, previous, record }: PageOptions) {
  const context = { ...createRequestContext(unit, request), after };
  const outcome = await runPipeline(context);
  const [entry] = context.entries;
  const isNew = 'problem' in outcome || entry?.epoch !== previous?.revision || entry?.reason !== previous?.reason;
  if (isNew && record) appendWithOutcome(context, outcome);
  if ('problem' in outcome) return outcome;
  return {
    records: outcome.result.data as readonly JsonObject[],
    nextCursor: outcome.result.extras?.['nextCursor'] as string | undefined,
    next: outcome.result.next,
    fields: exportedFields(context.resource, request.fields),
    wasLong: unit.tx.attempt === 'long',
    // If no audit entry was appended, the previous decision is kept, so that a later page appends one.
    decided: isNew && record ? toPageDecision(entry) : previous,
  };
}

function toPageDecision(entry: AuditEntry | undefined): PageDecision | undefined {
  return entry && { entryId: entry.id, revision: entry.epoch, reason: entry.reason };
}

/** Returns the requested fields in their order, preceded by the id if it is missing; by default, all fields in the order of the definition. */
function exportedFields(resource: Resource, names: readonly string[] | undefined): readonly Field[] {
  const readable = columnsOf(resource)
    .map(({ field }) => field)
    .filter(({ writeOnly }) => !writeOnly);
  if (names === undefined) return readable;
  const requested = names.includes('id') ? names : ['id', ...names];
  return [...new Set(requested)].flatMap((name) => readable.filter((field) => field.name === name));
}

const EXPORT_QUERY = exportQuerySchema([...FORMATS.keys()]);

/** Handles an export request. Returns a response that streams a file, or a plain request if the client accepts only a page of JSON. */
export async function handleExport(
  deps: TransferDeps,
  http: HttpRequest,
  observer?: TransferObserver,
): Promise<HttpResponse | PlainRequest> {
  const { format: named, ...cells } = parseExportQuery(http, EXPORT_QUERY);
  const format = (named as Format | undefined) ?? parseAccept(http)[0];
  const request = parseActionRequest({ ...http, query: new Map() }, deps.limits, 'export');
  if (format === undefined || (named === undefined && format === 'json')) return { plain: request };
  refusePaging(request);
  const caller = observer?.caller ?? (await authenticate(deps, http.origin));
  const pages = runExport(deps, caller, request);
  // The first page is read before the response begins, so that a denial has its own status.
  const first = await pages.next();
  if (first.done === true) throw new Error('an export has at least one page');
  const writer = createWriter({ format, fields: first.value.fields, ...cells });
  const [type] = FORMATS.get(format)?.types ?? ['application/octet-stream'];
  return {
    status: 200,
    headers: { ...entryHeader(first.value.decisionId), 'content-disposition': `attachment; filename="${request.resource}.${format}"` },
    body: undefined,
    contentType: format === 'csv' ? `${type}; charset=utf-8; header=present` : type,
    pieces: writePages({ writer, first: first.value, others: pages, onProgress: observer?.onProgress }),
  };
}

interface Pages {
  readonly writer: RowWriter;
  readonly first: ExportPage;
  readonly others: AsyncIterable<ExportPage>;
  readonly onProgress: TransferObserver['onProgress'] | undefined;
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

/** Refuses `cursor`, `offset` and `total`, because a file contains all records, or the first `limit` records. */
function refusePaging({ cursor, offset, total }: ApiRequest): void {
  const given = Object.entries({ cursor, offset, total: total || undefined }).filter(([, value]) => value !== undefined);
  refuseMistakes(
    'REQUEST_MALFORMED',
    given.map(([path]) => ({ path, code: 'conflict', detail: `expected no ${path} in an export to a file` })),
  );
}
