/** Reads of the audit log by operators with access to the database. They need no admin and no policy, and leave no entry. */
import {
  type AuditEntry,
  type EntryFilter,
  loadEntry,
  loadTail,
  loadTailEnd,
  matchesFilter,
  searchEntries,
  type TailPosition,
} from '../../audit/index.ts';
import { AUDIT_LOG_NAME } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { refuseMistakes } from '../../request/index.ts';
import { columnsOf, type Definitions } from '../../resources/index.ts';
import { Input } from '../../schemas/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { createWriter } from '../../transfer/formats/index.ts';
import { validateSchema } from '../../validation/index.ts';
import { ENTRY_COLUMNS } from './audit-schemas.ts';
import { BODY_FILTERS, toEntryFilter } from './decision-filters.ts';
import { explainPast, type PastExplanation, type PastRequest } from './decision-replay-past.ts';

/** The filters of a command: members of the filters of the admin endpoints. */
export type EntryFilters = Readonly<Record<string, string | boolean>>;

/** Runs a transaction that only reads. */
export type ReadTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Entries of a page, which limits the memory of a command. */
const PAGE_ENTRIES = 500;

/** Parses the filters of a command. @throws Problem REQUEST_PARAMETER with all mistakes */
export function parseEntryFilters(given: EntryFilters): EntryFilter {
  refuseMistakes('REQUEST_PARAMETER', validateSchema(Input(BODY_FILTERS), given as JsonObject, 'query parameter'));
  return toEntryFilter(given, undefined);
}

/** Returns true if the audit log has an entry about a resource, or if the search for one takes too long. */
export async function hasEntriesAbout(tx: Transaction, resource: string): Promise<boolean> {
  const { entries, isPartial = false } = await searchEntries(tx, { resource, limit: 1 });
  return entries.length > 0 || isPartial;
}

/** Yields the entries that match a filter, in pages, the oldest first. Entries that are committed meanwhile are left out. */
async function* searchFromCommand(read: ReadTransaction, filter: EntryFilter): AsyncGenerator<readonly AuditEntry[], void> {
  const to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, (await read(async (tx) => tx.now)) + 1);
  let cursor: string | undefined;
  do {
    const search = { ...filter, to, order: 'oldest', limit: PAGE_ENTRIES, cursor } as const;
    const { entries, next } = await read((tx) => searchEntries(tx, search));
    if (entries.length > 0) yield entries;
    cursor = next;
  } while (cursor !== undefined);
}

/** Yields the file of an export in pieces: every member of the entries that match a filter. */
export async function* exportEntriesFromCommand(
  read: ReadTransaction,
  { format, filter, definitions }: { readonly format: 'csv' | 'ndjson'; readonly filter: EntryFilter; readonly definitions: Definitions },
): AsyncGenerator<string, void> {
  const log = definitions.get(AUDIT_LOG_NAME);
  const columns = new Map((log === undefined ? [] : columnsOf(log)).map(({ field }) => [field.name, field]));
  const fields = ENTRY_COLUMNS.flatMap((name) => columns.get(name) ?? []);
  const writer = createWriter({ format, fields, delimiter: ',', guardFormulas: true });
  yield writer.begin();
  for await (const entries of searchFromCommand(read, filter)) yield writer.rows(entries as readonly object[] as readonly JsonObject[]);
  yield writer.end();
}

/** A place in the audit log, and the last entries before it. */
export interface EntryTail {
  /** The oldest first. */
  readonly entries: readonly AuditEntry[];
  readonly position: TailPosition;
}

/** Loads the last entries that match a filter, and the position after them. */
export async function loadLastEntries(read: ReadTransaction, filter: EntryFilter, count: number): Promise<EntryTail> {
  return read(async (tx) => {
    const position = await loadTailEnd(tx);
    const { entries } = count === 0 ? { entries: [] } : await searchEntries(tx, { ...filter, limit: count });
    return { entries: entries.toReversed(), position };
  });
}

/** Loads the entries after a position that match a filter. At most a page: the returned position continues. */
export async function loadNewEntries(read: ReadTransaction, filter: EntryFilter, position: TailPosition): Promise<EntryTail> {
  const page = await read((tx) => loadTail(tx, position, PAGE_ENTRIES));
  const entries = page.entries.map(({ entry }) => entry).filter((entry) => matchesFilter(filter, entry));
  return { entries, position: page.position };
}

/** An entry with its explanation, as the admin endpoint shows it. */
export type ExplainedEntry = AuditEntry & PastExplanation;

/** Explains the decision of an entry. @throws Problem DECISION_UNKNOWN */
export async function explainFromCommand(request: PastRequest, id: string): Promise<ExplainedEntry> {
  const entry = await loadEntry(request.tx, id);
  if (entry === undefined) throw new Problem('DECISION_UNKNOWN', 'no decision has this id');
  return entry.kind === 'access' ? { ...entry, ...(await explainPast(request, entry)) } : entry;
}
