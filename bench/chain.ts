/**
 * Measures the cost of the hash chain, and the speed of its verification: `node bench/chain.ts [entries] [postgres://…]`.
 *
 * Appends entries in concurrent transactions, with the chain and without its columns and its index, by turns. Each round uses a new database
 * with the durability of the service. Then verifies the chained one. Prints the elapsed time and the processor time of the appending
 * thread; only the latter is comparable on a busy machine.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditEntry, appendAuditEntries, CONTENT, toHash } from '../src/audit/index.ts';
import { verifyChains } from '../src/audit/integrity/index.ts';
import { memoize } from '../src/memoize.ts';
import { sql } from '../src/sql.ts';
import { type AppendStatements, type Database, insertionInto, type Statement, type Transaction } from '../src/storage/index.ts';
import { appendInFlight, openRecord, toEntry } from './entries.ts';
import { median } from './statistics.ts';

const [ENTRIES = '60000', server] = process.argv.slice(2);
const ROUNDS = 7;
/** Concurrent requests. */
const IN_FLIGHT = 64;
/** Entries appended as a warm-up. */
const WARM = 2000;

type Append = (tx: Transaction, entry: AuditEntry) => void;

const columns = CONTENT.map((name) => ({ name }));

/** Appends without the columns of the chain. The hash is still computed; its cost is measured separately. */
const unchained: Append = (tx, each) =>
  appendAuditEntries(
    {
      ...tx,
      append: (appending, rows) =>
        tx.append(
          memoize(without, appending, () => leaveOut(appending)),
          rows,
        ),
    },
    [each],
  );

const without = new Map<unknown, AppendStatements<never>>();

function leaveOut<Row>({ write, findCommitted }: AppendStatements<Row>): AppendStatements<Row> {
  return {
    async write({ tx }, rows) {
      const asked = await write({ tx, writer: { id: '', timeZone: undefined, last: { sequence: 1, hash: 'begun' } } }, rows);
      return asked.map((each) => ('parameters' in each && each.sql.includes('"_Decision"') ? unbound(tx.dialect, each) : each));
    },
    findCommitted,
  };
}

function unbound(dialect: Transaction['dialect'], { parameters }: Statement): Statement {
  const width = CONTENT.length + 3;
  const rows = parameters.length / width;
  const sql = memoize(texts, rows, () => insertionInto(dialect, '_Decision', { columns, rows }));
  return { sql, parameters: parameters.filter((_, index) => index % width < CONTENT.length) };
}

const texts = new Map<number, string>();
const chained: Append = (tx, entry) => appendAuditEntries(tx, [entry]);

async function open(folder: string): Promise<Database> {
  const url = server === undefined ? undefined : new URL(server);
  url?.searchParams.set('schema', `bench_${randomBytes(6).toString('hex')}`);
  return openRecord(url?.href ?? `sqlite:${join(folder, 'bench.db')}`);
}

/** Drops the index of the chain, which entries without a chain do not need. */
async function dropIndex(database: Database): Promise<void> {
  const name = await database.transaction(async (tx) => {
    const from =
      tx.dialect.name === 'sqlite'
        ? sql`select "name", "sql" as "says" from sqlite_schema where "type" = 'index'`
        : sql`
      select indexname as "name", indexdef as "says" from pg_indexes where schemaname = current_schema()`;
    return (await tx.all<{ name: string; says: string | null }>(from)).find(({ says }) => says?.includes('sequence'))?.name;
  });
  await database.transaction((tx) => tx.run(sql`drop index ${sql.ref(name ?? '')}`));
}

/** Cost of one entry in microseconds: elapsed time, and processor time of this thread. */
interface Cost {
  readonly clock: number;
  readonly thread: number;
}

async function timed(count: number, work: () => Promise<unknown>): Promise<Cost> {
  const [from, before] = [performance.now(), process.threadCpuUsage()];
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return { clock: ((performance.now() - from) / count) * 1000, thread: (user + system) / count };
}

const HASHES = 50_000;

async function hashAll(): Promise<void> {
  const content = CONTENT.map((name) => (name === 'facts' ? JSON.stringify(toEntry(1).facts) : (toEntry(1)[name] ?? null)));
  for (let last = '', count = 0; count < HASHES; count++) last = toHash(last, content);
}

function fill(database: Database, append: Append, count: number): Promise<void> {
  return appendInFlight({ database, count, inFlight: IN_FLIGHT, append: (into, each) => into.transaction(async (tx) => append(tx, each)) });
}

async function measure(append: Append): Promise<{ readonly appending: Cost; readonly verifying: Cost }> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  const database = await open(folder);
  const count = Number(ENTRIES);
  try {
    if (append === unchained) await dropIndex(database);
    await fill(database, append, WARM);
    const appending = await timed(count, () => fill(database, append, count));
    if (append === unchained) return { appending, verifying: { clock: 0, thread: 0 } };
    const verifying = await timed(count + WARM, async () => {
      const { breakCount } = await verifyChains({ transaction: (work) => database.transaction(work), keys: new Map(), known: new Map() });
      if (breakCount > 0) throw new Error(`${breakCount} breaks`);
    });
    return { appending, verifying };
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

const rounds: { readonly on: Cost; readonly off: Cost; readonly hashing: Cost; readonly verifying: Cost }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  // By turns; the order changes with each round.
  const first = round % 2 === 0 ? await measure(chained) : undefined;
  const { appending: off } = await measure(unchained);
  const { appending: on, verifying } = first ?? (await measure(chained));
  rounds.push({ on, off, hashing: await timed(HASHES, hashAll), verifying });
}

function print(what: string, cost: (round: (typeof rounds)[number]) => Cost): void {
  const [clock, thread] = [median(rounds.map((round) => cost(round).clock)), median(rounds.map((round) => cost(round).thread))];
  const rate = Math.round(1e6 / clock).toLocaleString('en');
  process.stdout.write(`${what.padEnd(12)}${rate.padStart(10)} per second   ${thread.toFixed(1).padStart(6)} µs of processor time each\n`);
}

process.stdout.write(
  `${server === undefined ? 'SQLite' : 'PostgreSQL'}, ${IN_FLIGHT} concurrent transactions, ${ENTRIES} entries, medians of ${ROUNDS} rounds\n`,
);
print('chained', ({ on }) => on);
print('unchained', ({ off }) => off);
print('hashing', ({ hashing }) => hashing);
print('verified', ({ verifying }) => verifying);
const ratios = rounds.map(({ on, off }) => on.thread / off.thread);
process.stdout.write(
  `chained costs ${median(ratios).toFixed(2)} times the processor time; rounds ${ratios.map((each) => each.toFixed(2)).join(' ')}\n`,
);
