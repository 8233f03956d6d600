import { memoize } from '../memoize.ts';
import type { JsonObject } from '../operators/index.ts';
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
import { CONTENT, type Content, toBeginningHash, toHash } from './hash-chain.ts';

/** Characters kept of what callers choose freely: ids, addresses, request ids. */
const MAX_NAME = 200;
/** Characters kept of a reason: it names a rule and a policy, both bounded when they are written. */
const MAX_REASON = 2000;

/** Chains whose ends the next one keeps, the newest: each is among them when the next begins. */
const FOUND = 32;

/** Entries that one statement appends at most. */
const CHUNK = 64;

/** Appends one entry. */
export function appendEntry(tx: Transaction, entry: AuditEntry): Promise<void> {
  return appendAll(tx, [entry]);
}

/** What was done by the program itself, or by a command of whoever has its data folder: nobody else was asked. */
export interface OwnDeed {
  readonly resource: string;
  readonly action: string;
  /** Absent if the entry is about several records. */
  readonly recordId?: string;
  readonly reason: string;
  /** Epoch that it was done under, or that it began. */
  readonly epoch: number;
  /** Which command, such as `bailiwick restore`. */
  readonly by: string;
  /** Hash of the policy history, in the entry of a policy change. */
  readonly facts?: JsonObject | undefined;
}

/** Appends an entry for it. */
export function appendOwnDeed(tx: Transaction, { by, ...deed }: OwnDeed): Promise<void> {
  const at = new Date(tx.now).toISOString();
  return appendEntry(tx, { id: createEntryId(), at, kind: 'admin', role: 'admin', allowed: true, requestId: by, ip: '', ...deed });
}

/**
 * Appends entries and counts them in their hours, with what they are about: one exists if and only if the other does.
 * Every value is bound, and bounded in length, so that nothing a caller sends can forge or flood the record.
 */
export async function appendAll(tx: Transaction, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await tx.append(RECORD, entries);
}

/** How entries are added to the record. */
export const RECORD: AppendStatements<AuditEntry> = Object.freeze({
  write: (appender: AppendContext, entries: readonly AuditEntry[]) =>
    appender.writer.last.hash === '' ? beginChain(appender).then(() => toStatements(appender, entries)) : toStatements(appender, entries),
  find: ({ id, at }: AuditEntry) => sql`select 1 as "found" from "_Decision" where "id" = ${id} and "at" = ${at}`,
});

/** The first entry of a chain rests on the ends of those before it, which are kept beside it. */
async function beginChain({ tx, writer }: AppendContext): Promise<void> {
  const found = JSON.stringify(await loadChainHeads(tx, FOUND));
  const at = new Date(tx.now).toISOString();
  await tx.run(sql`insert into "_Chain" ("id", "at", "found") values (${writer.id}, ${at}, ${found})`);
  writer.last = { sequence: 0, hash: toBeginningHash({ writer: writer.id, at, found }) };
}

function toStatements({ tx, writer }: AppendContext, entries: readonly AuditEntry[]): readonly (Statement | Sql)[] {
  return [...insertions(tx.dialect, chained(writer, entries)), ...countings(entries, tx.slot)];
}

const COLUMNS = [...CONTENT, 'writer', 'sequence', 'hash'].map((name) => ({ name }));

type Row = readonly unknown[];

/** The rows of entries, each bound to the one before it. */
function chained(writer: ChainWriter, entries: readonly AuditEntry[]): readonly Row[] {
  let { last }: { last: ChainLink } = writer;
  const rows = entries.map((entry) => {
    const content = toContent(entry);
    last = { sequence: last.sequence + 1, hash: toHash(last.hash, content) };
    return [...content, writer.id, last.sequence, last.hash];
  });
  writer.last = last;
  return rows;
}

/** Few statements, and few different texts, so that a database prepares them once: as many rows as the next power of two has. */
function* insertions(dialect: Transaction['dialect'], rows: readonly Row[]): Generator<Statement> {
  for (let at = 0, size = CHUNK; at < rows.length; at += size) {
    while (size > rows.length - at) size /= 2;
    yield { sql: textFor(dialect, size), parameters: rows.slice(at, at + size).flat() };
  }
}

function toContent(entry: AuditEntry): Content {
  const { id, at, kind, allowed, epoch, facts } = entry;
  const who = [bounded(entry.userId), bounded(entry.role)];
  const what = [bounded(entry.resource), bounded(entry.action), bounded(entry.recordId)];
  const why = [bounded(entry.reason, MAX_REASON), bounded(entry.ruleId), bounded(entry.policyId)];
  const how = [bounded(entry.requestId), bounded(entry.ip), bounded(entry.outcome), facts === undefined ? null : JSON.stringify(facts)];
  return [id, at, kind, ...who, ...what, allowed, ...why, epoch, ...how];
}

const texts = new WeakMap<Transaction['dialect'], Map<number, string>>();

/** Put together once: entries are appended more often than anything else is done. */
function textFor(dialect: Transaction['dialect'], rows: number): string {
  const known = memoize(texts, dialect, () => new Map<number, string>());
  return memoize(known, rows, () => insertionInto(dialect, '_Decision', { columns: COLUMNS, rows }));
}

/**
 * Hourly counts are kept as entries are appended: analytics never count the entries themselves. In one row for each lane: of
 * transactions side by side that count in one row, each would wait until the one before is on the disk.
 */
function countings(entries: readonly AuditEntry[], lane: number): readonly Sql[] {
  const counted = Map.groupBy(
    entries.filter(({ kind }) => kind === 'access'),
    ({ at, resource }) => `${toHour(at)} ${bounded(resource)}`,
  );
  // In one order, whoever counts: two that waited for each other would wait for good.
  return [...counted]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, same]) => counting(`${key}${lane === 0 ? '' : ` ${lane}`}`, same));
}

function counting(id: string, entries: readonly AuditEntry[]): Sql {
  const grants = entries.filter(({ allowed }) => allowed).length;
  const [{ at, resource }] = entries as readonly [AuditEntry, ...AuditEntry[]];
  return sql`
    insert into "_DecisionHour" ("id", "hour", "resource", "grants", "denials")
    values (${id}, ${toHour(at)}, ${bounded(resource)}, ${grants}, ${entries.length - grants})
    on conflict ("id") do update set
      "grants" = "_DecisionHour"."grants" + excluded."grants",
      "denials" = "_DecisionHour"."denials" + excluded."denials"`;
}

/** `2026-01-31T14:59:07.120Z` is in the hour `2026-01-31T14:00:00.000Z`. */
function toHour(at: string): string {
  return `${at.slice(0, 13)}:00:00.000Z`;
}

/** Cut to length, and rid of what a database cannot keep: NUL, and the half of a surrogate pair that a cut may leave. */
function bounded(text: string | undefined, max: number = MAX_NAME): string | null {
  return text === undefined ? null : text.slice(0, max).toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** An entry by its place, and what it was: the last of a chain when somebody looked. */
export interface Head {
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** A chain has no entry that is so much older than itself: a week, by which no clock is put back. */
const OLDER = 7 * 24 * 60 * 60_000;

/** The ends of the newest chains, so many at most, as this transaction sees them. */
export async function loadChainHeads(tx: Transaction, chains: number): Promise<readonly Head[]> {
  const newest = sql`select "id", "at" from "_Chain" order by "id" desc limit ${chains}`;
  const oldest = await tx.one<{ at: string | null }>(sql`select min("at") as "at" from (${newest}) as "newest"`);
  if (typeof oldest?.at !== 'string') return [];
  // Said in so many words, so that it is known before the question is planned which days are asked.
  const since = new Date(Date.parse(oldest.at) - OLDER).toISOString();
  // A question of its own for each chain: the last entry, and none before it, is looked at.
  const last = sql`
    select cast("sequence" as text) || ' ' || coalesce("hash", '') from "_Decision"
    where "writer" = "newest"."id" and "at" >= ${since} order by "sequence" desc nulls last limit 1`;
  const rows = await tx.all<{ writer: string; last: string | null }>(
    sql`select "id" as "writer", (${last}) as "last" from (${newest}) as "newest" order by "id"`,
  );
  return rows.flatMap((row) => {
    const [sequence = '', hash = ''] = row.last?.split(' ') ?? [];
    return hash === '' ? [] : [{ writer: row.writer, sequence: Number(sequence), hash }];
  });
}
