import pg from 'pg';
import { Problem } from '../../errors.ts';
import type { Transaction, TransactionOptions } from '../database.ts';
import type { PostgresAddress } from './address.ts';
import { createClock } from './clock.ts';
import { type Connection, createConnection } from './connection.ts';
import { busy, fromDriver, unavailable } from './driver-error.ts';
import { attempt, type Outcome } from './transaction.ts';

/** How a server is spoken to. Times are milliseconds. */
export interface RunnerOptions {
  /** Connections at most: so many transactions run side by side. */
  readonly connections?: number;
  /** Whether statements are prepared under names. Not where a pooler changes connections between transactions and knows none. */
  readonly preparedStatements?: boolean;
  /** For a statement to be done. */
  readonly statementTimeout?: number;
  /** For a row, a table or a name that another transaction holds to be let go. */
  readonly lockTimeout?: number;
  /** For a connection to be there. */
  readonly connectTimeout?: number;
}

/** What a work came to. */
export interface Ran<T> {
  readonly answer: T;
  /** Whether it asked for anything to be written: then the commit proves that it can be. */
  readonly wrote: boolean;
}

/** Runs works on connections of a pool. */
export interface Runner {
  run<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<Ran<T>>;
  close(): Promise<void>;
}

/** Works that may wait for a connection. */
const QUEUE = 10_000;
/** Times a work is run where others, or a change of tables, stood in its way. */
const ATTEMPTS = 5;
/** Times a work is run where what it rests on has changed meanwhile: each time it has been told the newest. */
const STALE_ATTEMPTS = 10;
/** For a transaction of which nothing is heard: its process hangs, and holds up others. */
const IDLE_TIMEOUT = 30_000;
/** What is done with patience is cut off only where it hangs. */
const PATIENT_IDLE_TIMEOUT = 600_000;
/** A connection is closed after so long, so that after a failover, or behind a balancer, all move in time. */
const LIFETIME_SECONDS = 1800;

/** Makes a runner; it connects when it is first asked. */
export function createRunner(address: PostgresAddress, options: RunnerOptions): Runner {
  const pool = createPool(address, options);
  const begin = beginnings(address, options);
  const clock = createClock();
  const connections = new WeakMap<pg.PoolClient, Connection>();
  let named = options.preparedStatements ?? true;

  function connectionOf(client: pg.PoolClient): Connection {
    const known = connections.get(client) ?? createConnection(client, () => named);
    connections.set(client, known);
    return known;
  }

  async function once<T>(work: (tx: Transaction) => Promise<T>, patient: boolean): Promise<Outcome<T>> {
    const client = await take(pool);
    const connection = connectionOf(client);
    if (connection.isFull) connection.forgetStatements();
    const outcome = await attempt(connection, { begin: patient ? begin.patient : begin.usual, clock }, work);
    if ('error' in outcome && outcome.passing === 'statement') connection.forgetStatements();
    // Whoever is in between has given our statements to somebody else's connection: no more names, then.
    if ('error' in outcome && outcome.passing === 'pooler') named = false;
    client.release('error' in outcome && outcome.broken);
    return outcome;
  }

  return {
    async run(work, { patient = false }) {
      if (pool.waitingCount >= QUEUE) throw new Problem('STORAGE_BUSY', `${QUEUE} transactions are waiting already`);
      for (let tries = 1; ; tries++) {
        const outcome = await once(work, patient);
        if ('answer' in outcome) return outcome;
        if (outcome.passing === undefined || tries >= (outcome.passing === 'stale' ? STALE_ATTEMPTS : ATTEMPTS)) throw outcome.error;
        // Two that stood in each other's way would do so again, were they to begin at the same time.
        if (outcome.passing === 'conflict') await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
      }
    },
    close: () => pool.end(),
  };
}

function createPool(address: PostgresAddress, { connections = 10, connectTimeout = 5000 }: RunnerOptions): pg.Pool {
  const { host, port, user, password, database, ssl, applicationName } = address;
  const pool = new pg.Pool({
    ...{ host, port, user, database, ssl, application_name: applicationName },
    ...(password !== undefined && { password }),
    max: connections,
    connectionTimeoutMillis: connectTimeout,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    // A command that is done, or failed on the way, does not wait for connections that nobody uses.
    allowExitOnIdle: true,
    // What needs no answer (SAVEPOINT, RELEASE) is sent together with what comes next.
    pipeline: true,
  });
  // Of a connection that is lost, whoever asks something of it learns; unheard, the driver's event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * What transactions begin with, in one message. Settings are the transaction's own: a connection of a pooler may have been
 * somebody else's a moment ago.
 */
function beginnings(
  { schema }: PostgresAddress,
  { statementTimeout = 30_000, lockTimeout = 5000 }: RunnerOptions,
): Readonly<Record<'usual' | 'patient', string>> {
  const begin = (statement: number, idle: number): string =>
    [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL statement_timeout = ${statement}`,
      `SET LOCAL lock_timeout = ${lockTimeout}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${idle}`,
      ...(schema === undefined ? [] : [`SET LOCAL search_path TO "${schema}"`]),
      'SELECT (extract(epoch FROM now()) * 1000)::bigint AS "now"',
    ].join('; ');
  return { usual: begin(statementTimeout, IDLE_TIMEOUT), patient: begin(0, PATIENT_IDLE_TIMEOUT) };
}

async function take(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // Said in the same words where no connection is free and where none can be made.
    if (pool.totalCount - pool.idleCount >= (pool.options.max ?? 0)) throw busy(error);
    const known = fromDriver(error);
    throw known instanceof Problem && known.status === 503 ? known : unavailable(error);
  }
}
