import { getOrCreate, memoize } from '../memoize.ts';
import type { JsonObject, StoredType } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import {
  type AppendContext,
  type AppendStatements,
  type ChainLink,
  type ChainWriter,
  insertionInto,
  type Statement,
  type Transaction,
} from '../storage/index.ts';
import { type AuditEntry, createEntryId } from './audit-entry.ts';
import { loadChainHeads } from './chain-heads.ts';
import { CONTENT, type Content, toBeginningHash, toHash } from './hash-chain.ts';
import { type CountableDenial, countRepeats, findDenial, hasOwnEntry } from './repeated-denials.ts';

/** Maximum characters of values that clients choose, such as ids and request ids. Longer ones are truncated. */
export const MAX_ENTRY_TEXT = 200;
/** Maximum characters of a reason, which names a rule and a policy. */
const MAX_REASON = 2000;

/** Number of the newest chains whose heads are stored with a new chain. */
const HEADS_PER_CHAIN = 32;

/** Maximum number of entries per INSERT statement. */
const CHUNK = 64;

/** Appends one entry to the audit log. */
export function appendEntry(tx: Transaction, entry: AuditEntry): void {
  appendAuditEntries(tx, [entry]);
}

/** A change that the program itself or a CLI command made, without a principal. */
export interface SystemEntry {
  readonly resource: string;
  readonly action: string;
  /** Absent if the change concerns several records. */
  readonly recordId?: string;
  readonly reason: string;
  /** The revision of the change. */
  readonly epoch: number;
  /** The command, such as `bailiwick restore`. */
  readonly by: string;
  /** Hash of the policy history, in the entry of a policy change. */
  readonly facts?: JsonObject | undefined;
}

/** Appends the entry of a change by the program or a command. */
export function appendSystemEntry(tx: Transaction, { by, ...entry }: SystemEntry): void {
  const at = new Date(tx.now).toISOString();
  appendEntry(tx, { id: createEntryId(), at, kind: 'admin', role: 'admin', allowed: true, requestId: by, ip: '', ...entry });
}

/**
 * Appends entries to the audit log and updates the hourly counts, in the transaction of the change that they describe. Values are bound, so
 * that client input cannot forge an entry, and truncated, so that it cannot fill the log.
 */
export function appendAuditEntries(tx: Transaction, rows: readonly AuditRow[]): void {
  if (rows.length > 0) tx.append(AUDIT_LOG, rows);
}

/** A row to append: an entry, or a denial that may only add to the number of an earlier one. */
export type AuditRow = AuditEntry | CountableDenial;

/** The statements that write entries at the end of a transaction: see `Transaction.append`. */
export const AUDIT_LOG: AppendStatements<AuditRow> = Object.freeze({
  write(appender: AppendContext, rows: readonly AuditRow[]) {
    if (rows.some(isDenial)) return writeWithDenials(appender, rows);
    const entries = rows as readonly AuditEntry[];
    return isNewChain(appender)
      ? beginChain(appender).then(() => toEntryStatements(appender, entries))
      : toEntryStatements(appender, entries);
  },
  findCommitted: (row: AuditRow) =>
    isDenial(row) ? findDenial(row) : sql`select 1 as "found" from "_Decision" where "id" = ${row.id} and "at" = ${row.at}`,
});

function isDenial(row: AuditRow): row is CountableDenial {
  return 'windows' in row;
}

function isNewChain({ writer }: AppendContext): boolean {
  return writer.last.hash === '';
}

/**
 * Begins a chain. The hash of its first entry covers the heads of the newest other chains, and the time zone in which the entries of the chain
 * are decided; both are stored in `_Chain`.
 */
async function beginChain({ tx, writer }: AppendContext): Promise<void> {
  const found = JSON.stringify(await loadChainHeads(tx, { newest: HEADS_PER_CHAIN }));
  const at = new Date(tx.now).toISOString();
  const timeZone = writer.timeZone ?? null;
  await tx.run(sql`insert into "_Chain" ("id", "at", "found", "timeZone") values (${writer.id}, ${at}, ${found}, ${timeZone})`);
  writer.last = { sequence: 0, hash: toBeginningHash({ writer: writer.id, at, found, timeZone }) };
}

type Statements = readonly (Statement | Sql)[];

function writeWithDenials(context: AppendContext, rows: readonly AuditRow[]): Statements | Promise<Statements> {
  const { tx, writer } = context;
  const denials = rows.filter(isDenial);
  for (const [windows, same] of Map.groupBy(denials, (denial) => denial.windows)) windows.assign(same);
  const stored = rows.filter((row) => !isDenial(row) || hasOwnEntry(row));
  const toStatements = (): Statements => [
    ...insertStatements(tx.dialect, linkEntries(writer, stored.map(toEntry))),
    ...countRepeats(
      writer,
      denials.filter((denial) => !hasOwnEntry(denial)),
    ),
    ...countStatements(tx, rows.map(toEntry)),
  ];
  // Repeated denials alone begin no chain: if the process ended before its first entry, the chain would look truncated.
  return stored.length > 0 && isNewChain(context) ? beginChain(context).then(toStatements) : toStatements();
}

function toEntryStatements({ tx, writer }: AppendContext, entries: readonly AuditEntry[]): Statements {
  return [...insertStatements(tx.dialect, linkEntries(writer, entries)), ...countStatements(tx, entries)];
}

function toEntry(row: AuditRow): AuditEntry {
  return isDenial(row) ? row.entry : row;
}

const TYPES: Readonly<Record<string, StoredType>> = { allowed: 'boolean', epoch: 'integer', sequence: 'integer', facts: 'json' };
const COLUMNS = [...CONTENT, 'writer', 'sequence', 'hash'].map((name) => ({ name, type: TYPES[name] ?? 'text' }));
const COLUMN_NAMES = sql.join(COLUMNS.map(({ name }) => sql.ref(name)));

/** Returns the values of all columns of the entries, one entry behind the other. The hash of each entry covers the previous one. */
function linkEntries(writer: ChainWriter, entries: readonly AuditEntry[]): readonly unknown[] {
  let { last }: { last: ChainLink } = writer;
  const values: unknown[] = [];
  for (const entry of entries) {
    const content = toContent(entry);
    last = { sequence: last.sequence + 1, hash: toHash(last.hash, content) };
    values.push(...content, writer.id, last.sequence, last.hash);
  }
  writer.last = last;
  return values;
}

/** Returns the statements that insert entries. `values` has all columns of the first entry, then those of the next. */
function insertStatements(dialect: Transaction['dialect'], values: readonly unknown[]): Statements {
  const rows = values.length / COLUMNS.length;
  if (rows === 0) return [];
  if (dialect.rowsOf === undefined) return toChunks(dialect, values);
  const columns = COLUMNS.map(({ type }, column) => ({
    type,
    values: Array.from({ length: rows }, (_, row) => values[row * COLUMNS.length + column]),
  }));
  return [sql`insert into "_Decision" (${COLUMN_NAMES}) ${dialect.rowsOf(columns)}`];
}

/** Returns INSERT statements of 64, 32, 16 … rows, so that few statements run and the database prepares few texts. */
function toChunks(dialect: Transaction['dialect'], values: readonly unknown[]): readonly Statement[] {
  const statements: Statement[] = [];
  const rows = values.length / COLUMNS.length;
  for (let offset = 0, size = CHUNK; offset < rows; offset += size) {
    while (size > rows - offset) size /= 2;
    const parameters = size === rows ? values : values.slice(offset * COLUMNS.length, (offset + size) * COLUMNS.length);
    statements.push({ sql: textFor(dialect, size), parameters });
  }
  return statements;
}

/** Returns the values of an entry in the order of `CONTENT`, with long texts truncated. */
function toContent(entry: AuditEntry): Content {
  return [
    entry.id,
    entry.at,
    entry.kind,
    truncate(entry.userId),
    truncate(entry.role),
    truncate(entry.resource),
    truncate(entry.action),
    truncate(entry.recordId),
    entry.allowed,
    truncate(entry.reason, MAX_REASON),
    truncate(entry.ruleId),
    truncate(entry.policyId),
    entry.epoch,
    truncate(entry.requestId),
    truncate(entry.ip),
    truncate(entry.outcome),
    entry.facts === undefined ? null : JSON.stringify(entry.facts),
  ];
}

const texts = new WeakMap<Transaction['dialect'], Map<number, string>>();

/** Returns the text of an INSERT statement for `rows` rows. Cached, because almost every request appends entries. */
function textFor(dialect: Transaction['dialect'], rows: number): string {
  const known = memoize(texts, dialect, () => new Map<number, string>());
  return memoize(known, rows, () => insertionInto(dialect, '_Decision', { columns: COLUMNS, rows }));
}

/** The number of granted and denied requests of a resource in an hour. */
interface HourCount {
  readonly id: string;
  readonly hour: string;
  readonly resource: string | null;
  grants: number;
  denials: number;
}

/**
 * Returns the statements that update the hourly counts, which analytics read instead of the entries. Each connection slot has a row of its
 * own, because concurrent transactions that update one row would wait for each other's commit.
 */
function countStatements(tx: Pick<Transaction, 'dialect' | 'slot'>, entries: readonly AuditEntry[]): readonly Sql[] {
  const counts = new Map<string, HourCount>();
  const ofSlot = tx.slot() === 0 ? '' : ` ${tx.slot()}`;
  for (const { kind, at, resource, allowed } of entries) {
    if (kind !== 'access') continue;
    const [hour, name] = [toHour(at), truncate(resource)];
    const id = `${hour} ${name}${ofSlot}`;
    const count = getOrCreate(counts, id, () => ({ id, hour, resource: name, grants: 0, denials: 0 }));
    if (allowed) count.grants++;
    else count.denials++;
  }
  // Sorted, so that two transactions lock the rows in the same order and cannot deadlock.
  const sorted = [...counts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (tx.dialect.rowsOf === undefined || sorted.length === 0) return sorted.map(countStatement);
  const columns = COUNT_COLUMNS.map(({ name, type }) => ({ type, values: sorted.map((count) => count[name]) }));
  return [addCounts(tx.dialect.rowsOf(columns))];
}

const COUNT_COLUMNS = [
  { name: 'id', type: 'text' },
  { name: 'hour', type: 'text' },
  { name: 'resource', type: 'text' },
  { name: 'grants', type: 'integer' },
  { name: 'denials', type: 'integer' },
] as const;

function countStatement({ id, hour, resource, grants, denials }: HourCount): Sql {
  return addCounts(sql`values (${id}, ${hour}, ${resource}, ${grants}, ${denials})`);
}

function addCounts(rows: Sql): Sql {
  return sql`
    insert into "_DecisionHour" ("id", "hour", "resource", "grants", "denials") ${rows}
    on conflict ("id") do update set
      "grants" = "_DecisionHour"."grants" + excluded."grants",
      "denials" = "_DecisionHour"."denials" + excluded."denials"`;
}

/** Returns the beginning of the hour of a time: `2026-01-31T14:00:00.000Z` for `2026-01-31T14:59:07.120Z`. */
function toHour(at: string): string {
  return `${at.slice(0, 13)}:00:00.000Z`;
}

/** Truncates a text, and replaces characters that a database cannot store: NUL, and an unpaired surrogate. */
function truncate(text: string | undefined, max: number = MAX_ENTRY_TEXT): string | null {
  return text === undefined ? null : text.slice(0, max).toWellFormed().replaceAll('\u0000', '\ufffd');
}
