/**
 * An export of any length: page after page by the cursor of the page before, each a transaction that decides anew. A
 * revoke that has returned is in force for the next page: the export breaks off there.
 */
import { type Asked, type AskedParts, type Caller, inTransaction, runRead, toJob } from '../asked.ts';
import type { Entry } from '../audit/index.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { appendEntries, settle } from '../pipeline.ts';
import type { ApiRequest } from '../request/index.ts';
import { columnsOf, type Resource } from '../resource/index.ts';

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
export async function* runExport(parts: AskedParts, caller: Caller, request: ApiRequest): AsyncGenerator<ExportPage> {
  let decided: Decided | undefined;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  let rows = FIRST_ROWS;
  do {
    const asked: ApiRequest = { ...request, cursor, limit: Math.min(rows, left) };
    const before = decided;
    const page = await runRead(parts, (record) => inTransaction(parts, { caller }, (tx) => runPage(tx, asked, { before, record })));
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

async function runPage(asked: Asked, request: ApiRequest, { before, record }: Recording) {
  const job = toJob(asked, request);
  const outcome = await settle(job);
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

function toDecided(entry: Entry | undefined): Decided | undefined {
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
