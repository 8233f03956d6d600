/**
 * Measures the cost of audit entries: bytes of one entry by table and index, and the time to append, search, verify and prune a day:
 * `node bench/retention.ts [entries] [days]`. Runs on a SQLite file and on a PostgreSQL server that it starts; `BENCH_ON=sqlite` or
 * `BENCH_ON=postgres` selects one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditEntry, appendAuditEntries, loadChainHeads, loadEntry, searchEntries } from '../src/audit/index.ts';
import { loadCheckpointKey, verifyChains } from '../src/audit/integrity/index.ts';
import { pruneEntries } from '../src/audit/retention/index.ts';
import { SYSTEM } from '../src/resources/system/index.ts';
import { sql } from '../src/sql.ts';
import { createPartitions, type Database, migrate, openDatabase } from '../src/storage/index.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { toEntry } from './entries.ts';

const ENTRIES = Number(process.argv[2] ?? 1_000_000);
const DAYS = Number(process.argv[3] ?? 10);
/** Entries per commit, and concurrent commits. */
const GROUP = 64;
const FLIGHTS = 4;
const DAY = 24 * 60 * 60_000;
const ON = process.env['BENCH_ON'] ?? 'sqlite,postgres';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-retention-'));
process.stdout.write(`${ENTRIES} entries of ${DAYS} days; load ${loadavg()[0]?.toFixed(1)}\n`);
const server = ON.includes('postgres') ? await startPostgres() : undefined;
try {
  if (ON.includes('sqlite')) await measure('SQLite', `sqlite:${join(folder, 'bench.db')}`);
  if (server !== undefined) await measure('PostgreSQL', server.url);
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(title: string, place: string): Promise<void> {
  const database = await openDatabase({ database: place });
  const today = await database.transaction(async (tx) => Math.floor(tx.now / DAY) * DAY);
  const first = today - DAYS * DAY;
  process.stdout.write(`\n${title}\n`);
  await migrate(database, SYSTEM);
  const decision = SYSTEM.get('_Decision');
  if (decision === undefined) throw new Error('no _Decision');
  // One entry for each day, in a separate chain, so that each day has a partition before it is filled.
  const other = await openDatabase({ database: place });
  await append(
    other,
    Array.from({ length: DAYS }, (_, day) => toEntry(day, first + day * DAY)),
  );
  await other.close();
  await createPartitions(database, decision);
  await timed('append, entries per second', async () => fill(database, first), ENTRIES);
  for (const [name, bytes] of await sizes(database)) print(`bytes per entry in ${name}`, `${Math.round(bytes / ENTRIES)}`);
  const { entries } = await database.transaction((tx) => searchEntries(tx, { limit: 50 }));
  await timed('newest 50, ms', () => database.transaction((tx) => searchEntries(tx, { limit: 50 })));
  await timed('newest 50 of an unknown user, ms', () => database.transaction((tx) => searchEntries(tx, { userId: 'unknown', limit: 50 })));
  await timed('one entry by id, ms', () => database.transaction((tx) => loadEntry(tx, entries[0]?.id ?? '')));
  await timed('last entries of 1000 chains, ms', () => database.transaction((tx) => loadChainHeads(tx, { newest: 1000 })));
  const transaction = <T>(work: Parameters<Database['transaction']>[0]): Promise<T> => database.transaction(work) as Promise<T>;
  await timed('verify, entries per second', () => verifyChains({ transaction, keys: new Map(), known: new Map() }), ENTRIES);
  const key = loadCheckpointKey(folder);
  const prune = (day: number): Promise<unknown> =>
    pruneEntries({ database, path: undefined, key, before: new Date(first + day * DAY).toISOString().slice(0, 10), by: 'bench' });
  await timed(`prune a day of ${Math.round(ENTRIES / DAYS)}, ms`, () => prune(1));
  await timed('prune another day, ms', () => prune(2));
  await database.close();
}

async function fill(database: Database, first: number): Promise<void> {
  let next = 0;
  const flights = Array.from({ length: FLIGHTS }, async () => {
    while (next < ENTRIES) {
      const from = next;
      next += GROUP;
      await append(
        database,
        Array.from({ length: Math.min(GROUP, ENTRIES - from) }, (_, index) => toEntry(from + index, timeOf(from + index, first))),
      );
    }
  });
  await Promise.all(flights);
}

function append(database: Database, entries: readonly AuditEntry[]): Promise<void> {
  return database.transaction(async (tx) => appendAuditEntries(tx, entries));
}

function timeOf(number: number, first: number): number {
  return first + Math.floor((number / ENTRIES) * DAYS * DAY);
}

async function sizes(database: Database): Promise<readonly (readonly [string, number])[]> {
  const query =
    database.dialect.name === 'sqlite'
      ? sql`SELECT "name", sum("pgsize") AS "bytes" FROM dbstat WHERE "name" LIKE '%_Decision%' AND "name" NOT LIKE '%Hour%' GROUP BY "name"`
      : sql`
        SELECT i.name AS "name", sum(pg_relation_size(i.oid)) AS "bytes" FROM (
          SELECT 'the table' AS name, c.oid FROM pg_class c WHERE c.relname LIKE '\\_Decision$%' AND c.relkind = 'r'
          UNION ALL SELECT (SELECT string_agg(a.attname, ', ' ORDER BY p.place) FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS p(number, place)
            JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = p.number), x.indexrelid
          FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid WHERE c.relname LIKE '\\_Decision$%' AND c.relkind = 'r') AS i GROUP BY 1`;
  const rows = await database.transaction((tx) => tx.all<{ name: string; bytes: number }>(query));
  const all = rows.map(({ name, bytes }) => [name, Number(bytes)] as const);
  return [...all, ['total', all.reduce((sum, [, bytes]) => sum + bytes, 0)]];
}

async function timed(what: string, work: () => Promise<unknown>, per?: number): Promise<void> {
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  print(what, per === undefined ? ms.toFixed(1) : Math.round((per / ms) * 1000).toString());
}

function print(what: string, figure: string): void {
  process.stdout.write(`  ${what.padEnd(60)} ${figure}\n`);
}
