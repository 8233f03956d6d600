/**
 * Compares the ways to send a query with the PostgreSQL driver: our query class, the same class without its cached columns, and the
 * driver's public API. Starts its own server; run it with `node bench/driver.ts`.
 */
import pg from 'pg';
import { createConnection } from '../src/storage/postgres/connection.ts';
import { startPostgres } from '../test/postgres/server.ts';

const ROUNDS = 15;
const QUERIES = 4000;
/** Statements that are in flight at once. */
const FLIGHTS = [1, 20];
const COLUMNS = Array.from({ length: 15 }, (_, column) => `"c${column}"`);
const TEXT = `SELECT "id", ${COLUMNS.join(', ')} FROM "Bench" WHERE "id" = $1`;

type Send = (id: string) => Promise<unknown>;

/** Microseconds per query. */
interface Cost {
  readonly elapsed: number;
  /** CPU time of this process. */
  readonly cpu: number;
}

const server = await startPostgres();
const clients: pg.PoolClient[] = [];
const pool = new pg.Pool({ connectionString: server.url, max: 3, pipeline: true } as pg.PoolConfig);
// A connection that is closed with the server must not end the process.
pool.on('error', () => undefined);
for (let each = 0; each < 3; each++) clients.push((await pool.connect()).on('error', () => undefined));
const [own, described, plain] = clients as [pg.PoolClient, pg.PoolClient, pg.PoolClient];
await plain.query(`CREATE TABLE "Bench" ("id" TEXT PRIMARY KEY, ${COLUMNS.map((column) => `${column} TEXT`).join(', ')})`);
const values = COLUMNS.map((_, column) => `'value ' || n || ' of ${column}'`).join(', ');
await plain.query(`INSERT INTO "Bench" SELECT 'id ' || n, ${values} FROM generate_series(0, 999) AS n`);

const types = {
  getTypeParser:
    () =>
    (text: string): unknown =>
      text,
};
const WAYS: Readonly<Record<string, Send>> = {
  'our class, columns cached': await sendBy(own, true),
  'our class, columns described': await sendBy(described, false),
  'public API': (id) => plain.query({ name: 'bench', text: TEXT, values: [id], types } as pg.QueryConfig),
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
    process.stdout.write(`${inFlight} in flight, ${way}: ${median(all, 'elapsed')} µs a query, ${median(all, 'cpu')} µs of CPU\n`);
  }
}
for (const client of clients) client.release();
await pool.end();
await server.stop();

/** Returns the function that sends the query by our connection; it caches columns only on a direct connection. */
async function sendBy(client: pg.PoolClient, isDirect: boolean): Promise<Send> {
  const connection = createConnection(client, { slot: 0, preparesStatements: () => true });
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS "pid"');
  if (isDirect && rows[0] !== undefined) connection.setBackendProcess(rows[0].pid);
  return (id) => connection.query({ sql: TEXT, parameters: [id] });
}

/** Measures the cost of a query. */
async function measure(send: Send, inFlight: number): Promise<Cost> {
  const [start, startCpu] = [performance.now(), process.cpuUsage()];
  for (let sent = 0; sent < QUERIES; sent += inFlight)
    await Promise.all(Array.from({ length: inFlight }, (_, each) => send(`id ${(sent + each) % 1000}`)));
  const { user, system } = process.cpuUsage(startCpu);
  return { elapsed: ((performance.now() - start) * 1000) / QUERIES, cpu: (user + system) / QUERIES };
}

function median(costs: readonly Cost[], member: keyof Cost): string {
  const sorted = costs.map((cost) => cost[member]).toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(0);
}
