/**
 * Compares the ways to send a prepared SELECT of one row to PostgreSQL: our query class, the same class without its cached columns, the public
 * API of the driver, and another driver. Starts its own server; run it with `node bench/driver.ts`. `PG_NATIVE=<folder of pg-native>` adds that
 * driver, which has to be compiled.
 */
import { createRequire } from 'node:module';
import pg from 'pg';
import { createConnection } from '../src/storage/postgres/connection.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { installContestants, loadContestant } from './contestants/install.ts';
import { processorTime } from './process.ts';
import { median } from './statistics.ts';

const ROUNDS = 15;
const QUERIES = 6400;
/** Statements that are in flight at once. */
const FLIGHTS = [1, 10, 64];
const COLUMNS = Array.from({ length: 15 }, (_, column) => `"c${column}"`);
const TEXT = `SELECT "id", ${COLUMNS.join(', ')} FROM "Bench" WHERE "id" = $1`;
const TEXT_OF_MANY = `SELECT "id", ${COLUMNS.join(', ')} FROM "Bench" WHERE "id" = ANY($1::text[])`;

/** Sends queries for some ids, all of which are in flight at once. */
type Send = (ids: readonly string[]) => Promise<unknown>;

/** Microseconds per query. */
interface Cost {
  readonly elapsed: number;
  /** CPU time of this process, and of the server. */
  readonly cpu: number;
  readonly server: number;
}

installContestants();
const server = await startPostgres();
const clients: pg.PoolClient[] = [];
const pool = new pg.Pool({ connectionString: server.url, max: 4, pipeline: true } as pg.PoolConfig);
// A connection that is closed with the server must not end the process.
pool.on('error', () => undefined);
for (let each = 0; each < 4; each++) clients.push((await pool.connect()).on('error', () => undefined));
const [own, described, plain, many] = clients as [pg.PoolClient, pg.PoolClient, pg.PoolClient, pg.PoolClient];
await plain.query(`CREATE TABLE "Bench" ("id" TEXT PRIMARY KEY, ${COLUMNS.map((column) => `${column} TEXT`).join(', ')})`);
const values = COLUMNS.map((_, column) => `'value ' || n || ' of ${column}'`).join(', ');
await plain.query(`INSERT INTO "Bench" SELECT 'id ' || n, ${values} FROM generate_series(0, 999) AS n`);
await plain.query('ANALYZE "Bench"');

const types = {
  getTypeParser:
    () =>
    (text: string): unknown =>
      text,
};
const sendMany = await sendBy(many, true);
const WAYS: Readonly<Record<string, Send>> = {
  'our class, columns cached': each(await sendBy(own, true)),
  'our class, columns described': each(await sendBy(described, false)),
  'public API': each((id) => plain.query({ name: 'bench', text: TEXT, values: [id], types } as pg.QueryConfig)),
  postgres: each(sendByPostgres()),
  ...sendByNative(),
  'our class, one query for all': (ids) => sendMany(`{${ids.map((id) => `"${id}"`).join(',')}}`, TEXT_OF_MANY),
};

for (const inFlight of FLIGHTS) {
  const times = new Map(Object.keys(WAYS).map((way) => [way, [] as Cost[]]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [way, send] of Object.entries(WAYS)) {
      const cost = await measure(send, inFlight);
      // The first round warms up.
      if (round > 0) times.get(way)?.push(cost);
    }
  for (const [way, all] of times) {
    const of = (member: keyof Cost): string => median(all.map((cost) => cost[member])).toFixed(1);
    process.stdout.write(
      `${inFlight} in flight, ${way}: ${of('elapsed')} µs a query, ${of('cpu')} µs of CPU, ${of('server')} of the server\n`,
    );
  }
}
for (const client of clients) client.release();
await pool.end();
await server.stop();
process.exit(0);

function each(send: (id: string) => Promise<unknown>): Send {
  return (ids) => Promise.all(ids.map((id) => send(id)));
}

/** Returns the function that sends a query by our connection; it caches columns only on a direct connection. */
async function sendBy(client: pg.PoolClient, isDirect: boolean): Promise<(id: string, sql?: string) => Promise<unknown>> {
  const connection = createConnection(client, { slot: 0, preparesStatements: () => true });
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS "pid"');
  if (isDirect && rows[0] !== undefined) connection.setBackendProcess(rows[0].pid);
  return (id, sql = TEXT) => connection.query({ sql, parameters: [id] });
}

/** The part of the driver that is used. */
type Postgres = (url: string, options: object) => { unsafe(text: string, values: readonly string[], options: object): Promise<unknown> };

function sendByPostgres(): (id: string) => Promise<unknown> {
  const driver = loadContestant<Postgres>('postgres')(server.url, { max: 1 });
  return (id) => driver.unsafe(TEXT, [id], { prepare: true });
}

interface Native {
  connectSync(url: string): void;
  prepareSync(name: string, text: string, parameters: number): void;
  execute(name: string, values: readonly string[], callback: (error: unknown, rows: unknown) => void): void;
}

/** The driver on the C library. It has one statement on its way. */
function sendByNative(): Readonly<Record<string, Send>> {
  const folder = process.env['PG_NATIVE'];
  if (folder === undefined) return {};
  const client = new (createRequire(`${folder}/package.json`)('pg-native') as new () => Native)();
  client.connectSync(server.url);
  client.prepareSync('bench', TEXT, 1);
  const send = (id: string): Promise<unknown> =>
    new Promise((resolve, reject) => client.execute('bench', [id], (error, rows) => (error ? reject(error) : resolve(rows))));
  return {
    async 'pg-native'(ids) {
      for (const id of ids) await send(id);
    },
  };
}

/** Measures the cost of a query. */
async function measure(send: Send, inFlight: number): Promise<Cost> {
  const [start, startCpu, startServer] = [performance.now(), process.cpuUsage(), processorTime(server)];
  for (let sent = 0; sent < QUERIES; sent += inFlight)
    await send(Array.from({ length: inFlight }, (_, nth) => `id ${(sent + nth) % 1000}`));
  const { user, system } = process.cpuUsage(startCpu);
  return {
    elapsed: ((performance.now() - start) * 1000) / QUERIES,
    cpu: (user + system) / QUERIES,
    server: (processorTime(server) - startServer) / QUERIES,
  };
}
