import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../../storage/index.ts';
import { type ChainHead, CONTENT, type Content } from '../index.ts';

/** An entry as stored, without validation. */
export interface ChainRow {
  readonly id: string;
  readonly sequence: number;
  readonly hash: string | null;
  readonly content: Content;
}

/** The beginning of a chain, as stored. */
export interface ChainStart {
  readonly writer: string;
  readonly at: string;
  /** The heads of earlier chains as JSON. */
  readonly found: string;
  /** IANA name of the time zone in which the entries were decided; null if it was not recorded. */
  readonly timeZone: string | null;
  /** The signed cut as JSON; null if the chain was not pruned. */
  readonly cut: string | null;
}

/** Runs a function in a transaction. */
export type RunTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

type Column = string | number | bigint | null;
type Columns = Readonly<Record<(typeof CONTENT)[number] | 'sequence' | 'hash', Column>>;

const SELECTION: Sql = sql.join([...CONTENT, 'sequence', 'hash'].map((name) => sql.ref(name)));

/** The position after which a page of a chain begins. */
export interface ChainPosition {
  readonly sequence: number;
  /** Needed because inserted entries may have the same sequence number. */
  readonly id: string;
}

/** Loads a page of the entries of a chain in the order of their sequence numbers. */
export async function loadChainPage(
  tx: Transaction,
  writer: string,
  { after, limit }: { readonly after: ChainPosition; readonly limit: number },
): Promise<readonly ChainRow[]> {
  const rows = await tx.all<Columns>(sql`
    select ${SELECTION} from "_Decision" where "writer" = ${writer} and "sequence" >= ${after.sequence}
      and ("sequence" > ${after.sequence} or "id" > ${after.id})
    order by "sequence" nulls first, "id" limit ${limit}`);
  return rows.map(toChainRow);
}

/** Milliseconds before and after a given time in which an entry is searched for first. */
const NEAR = 24 * 60 * 60_000;

/**
 * Loads the stored hash of an entry; undefined if there is no such entry. Searches near the given time first, such as the time of its
 * checkpoint, because a search without a time reads and locks every partition with all of its indexes.
 */
export async function loadHash(tx: Transaction, { writer, sequence, at }: EntryLocation): Promise<string | undefined> {
  const find = (where: Sql) =>
    tx.one<{ hash: string | null }>(
      sql`select "hash" from "_Decision" where "writer" = ${writer} and "sequence" = ${sequence} and ${where}`,
    );
  const time = Date.parse(at ?? '');
  const [from, to] = [time - NEAR, time + NEAR].map((each) => (Number.isNaN(each) ? '' : new Date(each).toISOString()));
  const row = (at === undefined ? undefined : await find(sql`"at" between ${from} and ${to}`)) ?? (await find(sql`1 = 1`));
  return row?.hash ?? undefined;
}

/** The position of an entry, and its approximate time if it is known. */
export interface EntryLocation {
  readonly writer: string;
  readonly sequence: number;
  readonly at?: string | undefined;
}

/** Loads the ids of entries of a chain that have no valid sequence number. */
export async function loadUnsequenced(tx: Transaction, writer: string, limit: number): Promise<readonly string[]> {
  const rows = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where "writer" = ${writer} and ("sequence" is null or "sequence" < 1) order by "id" limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Counts the entries without a chain, and loads the ids of those that are newer than the first chain. */
export async function loadUnchained(
  tx: Transaction,
  limit: number,
): Promise<{ readonly count: number; readonly newer: readonly string[] }> {
  const check = tx.dialect.deadlineCheck(sql.table('_Decision'));
  const all = await tx.one<{ count: number }>(sql`select count(*) as "count" from "_Decision" where ${check} and "writer" is null`);
  const newer = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where ${check} and "writer" is null and "at" >= (select "at" from "_Chain" order by "id" limit 1)
    order by "id" limit ${limit}`);
  return { count: Number(all?.count ?? 0), newer: newer.map(({ id }) => id) };
}

/**
 * Loads the id of the chain after `after`, or of the first chain; a chain may have a beginning, entries, or both. The database compares the
 * ids, so that a forged id is not skipped.
 */
export async function loadNextWriter(tx: Transaction, after: string | undefined): Promise<string | undefined> {
  const isNext = (column: string): Sql => (after === undefined ? sql`${sql.ref(column)} is not null` : sql`${sql.ref(column)} > ${after}`);
  const next = await tx.one<{ id: string | null }>(sql`
    select min("id") as "id" from (
      select min("id") as "id" from "_Chain" where ${isNext('id')}
      union all select min("writer") from "_Decision" where ${isNext('writer')}) as "next"`);
  return next?.id ?? undefined;
}

/** Loads the beginning of a chain; undefined if it is missing. */
export async function loadStart(tx: Transaction, writer: string): Promise<ChainStart | undefined> {
  // All columns, because the tables of an earlier version have no time zone.
  const row = await tx.one<Omit<ChainStart, 'writer' | 'timeZone'> & { readonly timeZone?: string | null }>(
    sql`select * from "_Chain" where "id" = ${writer}`,
  );
  return row && { writer, at: row.at, found: row.found, timeZone: row.timeZone ?? null, cut: row.cut };
}

/** A chain, and the sequence number of its last pruned entry; 0 if none was pruned. */
export interface CutChain {
  readonly writer: string;
  readonly cut: number;
  /** True if one of the first entries after the cut is old enough to be pruned. */
  readonly isOld: boolean;
}

/** Returns SQL for the sequence number of the last pruned entry of a chain; `chain` is the alias of its row. */
export function cutSequenceOf({ dialect }: Pick<Transaction, 'dialect'>, chain: string): Sql<number> {
  return sql<number>`coalesce(${dialect.jsonAt(sql.ref(`${chain}.cut`), ['sequence']).number}, 0)`;
}

/** Loads up to `limit` chains after the id `after`, in the order of their ids. */
export async function loadCutChains(
  tx: Transaction,
  after: string,
  { limit, before, maxEntries }: { readonly limit: number; readonly before: string; readonly maxEntries: number },
): Promise<readonly CutChain[]> {
  const cut = cutSequenceOf(tx, 'c');
  // The condition on "at" excludes later partitions, which would otherwise be searched for every pruned chain.
  const old = sql`select 1 from "_Decision" as d
    where d."writer" = c."id" and d."sequence" > ${cut} and d."sequence" <= ${cut} + ${maxEntries} and d."at" < ${before}`;
  const rows = await tx.all<CutChain & { isOld: number | boolean }>(sql`
    select c."id" as "writer", ${cut} as "cut", exists (${old}) as "isOld" from "_Chain" as c
    where c."id" > ${after} order by c."id" limit ${limit}`);
  return rows.map(({ writer, cut, isOld }) => ({ writer, cut: Number(cut), isOld: Boolean(isOld) }));
}

/** Loads the sequence number of the last pruned entry of a chain; 0 if none was pruned or the beginning of the chain is missing. */
export async function loadCutSequence(tx: Transaction, writer: string): Promise<number> {
  const row = await tx.one<{ cut: number }>(sql`select ${cutSequenceOf(tx, 'c')} as "cut" from "_Chain" as c where c."id" = ${writer}`);
  return Number(row?.cut ?? 0);
}

/** Loads the hash of the last pruned entry of a chain, if it has the given sequence number. */
export async function loadCutHash(tx: Transaction, writer: string, sequence: number): Promise<string | undefined> {
  const { text } = tx.dialect.jsonAt(sql.ref('c.cut'), ['hash']);
  const row = await tx.one<{ hash: string | null }>(
    sql`select ${text} as "hash" from "_Chain" as c where c."id" = ${writer} and ${cutSequenceOf(tx, 'c')} = ${sequence}`,
  );
  return row?.hash ?? undefined;
}

/** Loads the ids of entries before the cut of their chain that are too new to have been pruned. */
export async function loadBeforeCut(
  tx: Transaction,
  writer: string,
  { sequence, since, limit }: { readonly sequence: number; readonly since: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where "writer" = ${writer} and "sequence" >= 1 and "sequence" <= ${sequence} and "at" >= ${since}
    order by "id" limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Loads the heads of a chain that the next `chains` chains stored when they began. */
export async function loadHeadsFoundLater(tx: Transaction, writer: string, chains: number): Promise<readonly ChainHead[]> {
  const rows = await tx.all<{ found: string }>(sql`select "found" from "_Chain" where "id" > ${writer} order by "id" limit ${chains}`);
  return rows.flatMap(({ found }) => parseHeads(found)).filter((head) => head.writer === writer);
}

/** Returns the heads whose chains no longer have a beginning. */
export async function loadMissingChains(tx: Transaction, heads: readonly ChainHead[]): Promise<readonly ChainHead[]> {
  if (heads.length === 0) return [];
  const known = await tx.all<{ id: string }>(sql`select "id" from "_Chain" where "id" in (${sql.join(heads.map(({ writer }) => writer))})`);
  const ids = new Set(known.map(({ id }) => id));
  return heads.filter(({ writer }) => !ids.has(writer));
}

/** Parses the heads that a chain's beginning stores; none if the text is invalid. The hash of the beginning reveals a changed text. */
export function parseHeads(text: string): readonly ChainHead[] {
  try {
    const heads: unknown = JSON.parse(text);
    return Array.isArray(heads) ? heads.filter(isHead) : [];
  } catch {
    // The text is no longer JSON; the verification of its chain reports that.
    return [];
  }
}

/** Returns true if a value is a chain head. */
export function isHead(head: unknown): head is ChainHead {
  const { writer, sequence, hash } = Object(head) as Record<string, unknown>;
  return typeof writer === 'string' && Number.isSafeInteger(sequence) && typeof hash === 'string';
}

function toChainRow(columns: Columns): ChainRow {
  const content = CONTENT.map((name) => (name === 'allowed' ? toBoolean(columns[name]) : toPlain(columns[name])));
  const { id, sequence, hash } = columns;
  return { id: String(id), sequence: Number(sequence), hash: hash === null ? null : String(hash), content };
}

/** Converts the 1 and 0 of SQLite. A forged value such as 2 stays as it is, so that the hash differs. */
function toBoolean(value: Column): Content[number] {
  return value === 1 ? true : value === 0 ? false : toPlain(value);
}

function toPlain(value: Column): Content[number] {
  return typeof value === 'bigint' ? String(value) : value;
}
