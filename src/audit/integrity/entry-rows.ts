import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../../storage/index.ts';
import { CONTENT, type Content, type Head } from '../index.ts';

/** An entry as its columns hold it, whatever they hold. */
export interface ChainRow {
  readonly id: string;
  readonly sequence: number;
  readonly hash: string | null;
  readonly content: Content;
}

/** A chain as it began, and where it begins now. */
export interface ChainStart {
  readonly writer: string;
  readonly at: string;
  readonly found: string;
  readonly cut: string | null;
}

type Column = string | number | bigint | null;
type Columns = Readonly<Record<(typeof CONTENT)[number] | 'sequence' | 'hash', Column>>;

const SELECTION: Sql = sql.join([...CONTENT, 'sequence', 'hash'].map((name) => sql.ref(name)));

/** Where a page of a chain begins: behind this entry. */
export interface Position {
  readonly sequence: number;
  /** Two may stand in one place, where somebody has put one there. */
  readonly id: string;
}

/** A page of a chain, in its order. */
export async function loadChainPage(
  tx: Transaction,
  writer: string,
  { after, limit }: { readonly after: Position; readonly limit: number },
): Promise<readonly ChainRow[]> {
  const rows = await tx.all<Columns>(sql`
    select ${SELECTION} from "_Decision" where "writer" = ${writer} and "sequence" >= ${after.sequence}
      and ("sequence" > ${after.sequence} or "id" > ${after.id})
    order by "sequence" nulls first, "id" limit ${limit}`);
  return rows.map(toChainRow);
}

/** How long before and after a time an entry of about then is looked for first. */
const NEAR = 24 * 60 * 60_000;

/**
 * The hash of an entry, as it stands; undefined where it is not there. It is looked for about a time first, such as when it was signed, and
 * only if it is not there everywhere: of all days, each would be entered, and locked with all of its indexes.
 */
export async function loadHash(tx: Transaction, { writer, sequence, at }: EntryPlace): Promise<string | undefined> {
  const find = (where: Sql) =>
    tx.one<{ hash: string | null }>(
      sql`select "hash" from "_Decision" where "writer" = ${writer} and "sequence" = ${sequence} and ${where}`,
    );
  const time = Date.parse(at ?? '');
  const [from, to] = [time - NEAR, time + NEAR].map((each) => (Number.isNaN(each) ? '' : new Date(each).toISOString()));
  const row = (at === undefined ? undefined : await find(sql`"at" between ${from} and ${to}`)) ?? (await find(sql`1 = 1`));
  return row?.hash ?? undefined;
}

/** An entry by its place in its chain, and a time about which it may be. */
export interface EntryPlace {
  readonly writer: string;
  readonly sequence: number;
  readonly at?: string | undefined;
}

/** Ids of entries that say which chain they are in and have no place there. */
export async function loadPlaceless(tx: Transaction, writer: string, limit: number): Promise<readonly string[]> {
  const rows = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where "writer" = ${writer} and ("sequence" is null or "sequence" < 1) order by "id" limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** How many entries are in no chain, and the ids of those that are newer than chains are. */
export async function loadUnchained(
  tx: Transaction,
  limit: number,
): Promise<{ readonly count: number; readonly newer: readonly string[] }> {
  const counted = await tx.one<{ count: number }>(sql`select count(*) as "count" from "_Decision" where "writer" is null`);
  const newer = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where "writer" is null and "at" >= (select "at" from "_Chain" order by "id" limit 1)
    order by "id" limit ${limit}`);
  return { count: Number(counted?.count ?? 0), newer: newer.map(({ id }) => id) };
}

/**
 * The chain that comes next by its writer's id, or the first of all; whether it says how it began, has entries, or both. In the order of
 * the database, whatever stands there for an id: one that came before the first would never be looked at.
 */
export async function loadNextWriter(tx: Transaction, after: string | undefined): Promise<string | undefined> {
  const isNext = (column: string): Sql => (after === undefined ? sql`${sql.ref(column)} is not null` : sql`${sql.ref(column)} > ${after}`);
  const next = await tx.one<{ id: string | null }>(sql`
    select min("id") as "id" from (
      select min("id") as "id" from "_Chain" where ${isNext('id')}
      union all select min("writer") from "_Decision" where ${isNext('writer')}) as "next"`);
  return next?.id ?? undefined;
}

/** How a chain began; undefined where nothing says so. */
export async function loadStart(tx: Transaction, writer: string): Promise<ChainStart | undefined> {
  return tx.one<ChainStart>(sql`select "id" as "writer", "at", "found", "cut" from "_Chain" where "id" = ${writer}`);
}

/** A chain, and the number of its last entry that was pruned; 0 where none was. */
export interface CutChain {
  readonly writer: string;
  readonly cut: number;
  /** Whether there is an entry of a day before among those that come next. */
  readonly isOld: boolean;
}

/** The number of a chain's last entry that was pruned, as SQL; `chain` is the name of its row. */
export function cutPlace({ dialect }: Pick<Transaction, 'dialect'>, chain: string): Sql<number> {
  return sql<number>`coalesce(${dialect.jsonAt(sql.ref(`${chain}.cut`), ['sequence']).number}, 0)`;
}

/** The chains that began next, by their writers' ids. */
export async function loadCutChains(
  tx: Transaction,
  after: string,
  { limit, before, reach }: { readonly limit: number; readonly before: string; readonly reach: number },
): Promise<readonly CutChain[]> {
  const cut = cutPlace(tx, 'c');
  // Of the days before alone: no other is entered for chains that are gone, and those are more and more.
  const old = sql`select 1 from "_Decision" as d
    where d."writer" = c."id" and d."sequence" > ${cut} and d."sequence" <= ${cut} + ${reach} and d."at" < ${before}`;
  const rows = await tx.all<CutChain & { isOld: number | boolean }>(sql`
    select c."id" as "writer", ${cut} as "cut", exists (${old}) as "isOld" from "_Chain" as c
    where c."id" > ${after} order by c."id" limit ${limit}`);
  return rows.map(({ writer, cut, isOld }) => ({ writer, cut: Number(cut), isOld: Boolean(isOld) }));
}

/** The number of the last entry that was pruned of one chain; 0 where none was, or the chain says nothing of how it began. */
export async function loadCutPlace(tx: Transaction, writer: string): Promise<number> {
  const row = await tx.one<{ cut: number }>(sql`select ${cutPlace(tx, 'c')} as "cut" from "_Chain" as c where c."id" = ${writer}`);
  return Number(row?.cut ?? 0);
}

/** The hash of the last entry of a chain that was pruned, where that was its number. */
export async function loadCutHash(tx: Transaction, writer: string, sequence: number): Promise<string | undefined> {
  const { text } = tx.dialect.jsonAt(sql.ref('c.cut'), ['hash']);
  const row = await tx.one<{ hash: string | null }>(
    sql`select ${text} as "hash" from "_Chain" as c where c."id" = ${writer} and ${cutPlace(tx, 'c')} = ${sequence}`,
  );
  return row?.hash ?? undefined;
}

/** Ids of entries that stand where the beginning of their chain was pruned, and are from a time of which nothing was. */
export async function loadBehindCut(
  tx: Transaction,
  writer: string,
  { sequence, since, limit }: { readonly sequence: number; readonly since: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await tx.all<{ id: string }>(sql`
    select "id" from "_Decision" where "writer" = ${writer} and "sequence" >= 1 and "sequence" <= ${sequence} and "at" >= ${since}
    order by "id" limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** What the chains that began next have found of this one. */
export async function loadFoundLater(tx: Transaction, writer: string, chains: number): Promise<readonly Head[]> {
  const rows = await tx.all<{ found: string }>(sql`select "found" from "_Chain" where "id" > ${writer} order by "id" limit ${chains}`);
  return rows.flatMap(({ found }) => readHeads(found)).filter((head) => head.writer === writer);
}

/** Those of the heads whose chains are gone without a trace. */
export async function loadGone(tx: Transaction, heads: readonly Head[]): Promise<readonly Head[]> {
  if (heads.length === 0) return [];
  const known = await tx.all<{ id: string }>(sql`select "id" from "_Chain" where "id" in (${sql.join(heads.map(({ writer }) => writer))})`);
  const ids = new Set(known.map(({ id }) => id));
  return heads.filter(({ writer }) => !ids.has(writer));
}

/** Reads heads from text that may be anything: what was changed shows by its hash. */
export function readHeads(text: string): readonly Head[] {
  try {
    const heads: unknown = JSON.parse(text);
    return Array.isArray(heads) ? heads.filter(isHead) : [];
  } catch {
    // Not JSON any more: the chain that it is the beginning of says so.
    return [];
  }
}

/** Whether it has the shape of a head. */
export function isHead(head: unknown): head is Head {
  const { writer, sequence, hash } = Object(head) as Record<string, unknown>;
  return typeof writer === 'string' && Number.isSafeInteger(sequence) && typeof hash === 'string';
}

function toChainRow(columns: Columns): ChainRow {
  const content = CONTENT.map((name) => (name === 'allowed' ? toBoolean(columns[name]) : plain(columns[name])));
  const { id, sequence, hash } = columns;
  return { id: String(id), sequence: Number(sequence), hash: hash === null ? null : String(hash), content };
}

/** Only what we write ourselves is true or false: a 2 is neither, and shows. */
function toBoolean(value: Column): Content[number] {
  return value === 1 ? true : value === 0 ? false : plain(value);
}

function plain(value: Column): Content[number] {
  return typeof value === 'bigint' ? String(value) : value;
}
