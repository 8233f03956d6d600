import { randomInt } from 'node:crypto';
import pg from 'pg';
import { Problem } from '../../errors.ts';
import { getOrCreate } from '../../memoize.ts';
import { type Connection, createConnection } from './connection.ts';
import type { PostgresAddress, ServerOptions } from './connection-string.ts';
import { busy, fromDriver, isNetworkFailure, type RetryReason, SharedConnectionFailed, unavailable } from './driver-error.ts';
import { toBeginStatements } from './session-settings.ts';

/** The part of an outcome that decides if the connection and its prepared statements can be used again. */
export interface ConnectionUse {
  readonly broken?: boolean;
  readonly retryReason?: RetryReason | undefined;
}

/** The needs of the borrower of a connection. */
export interface Lending {
  /** True if no idle timeout applies. */
  readonly unlimited?: boolean;
  /** True if the session must have our settings. If it does not keep them, `lend` throws SharedConnectionFailed. */
  readonly needsSettings?: boolean;
}

/** Connections to one server. */
export interface Pool {
  /** True if the connection that was used last has our settings. */
  readonly isDirect: boolean;
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  /**
   * Lends a connection for the duration of `work`. Unless `unlimited` is set, an idle timeout closes a connection whose server does not
   * answer. Throws Problems if no connection is available.
   */
  lend<Outcome extends ConnectionUse>(work: (connection: Connection) => Promise<Outcome>, how?: Lending): Promise<Outcome>;
  close(): Promise<void>;
}

/** The default statement timeout in milliseconds. */
export const STATEMENT_TIMEOUT = 30_000;
/** Milliseconds after the statement timeout in which the server must have answered; without an answer the connection is dead. */
const ANSWER_GRACE = 5000;
/** Maximum age of a connection, so that all of them move after a failover or behind a load balancer. */
const LIFETIME_SECONDS = 1800;

/** Options of a pool. */
export interface PoolOptions extends ServerOptions {
  /** Called when a connection is lost. */
  onConnectionLost(): void;
  /** The slots that all pools of a database share. */
  readonly slots: ConnectionSlots;
  /** The network failures of all pools of a database. */
  readonly failures: NetworkFailures;
  /** The statement timeout of the sessions, in milliseconds. */
  readonly sessionTimeout: number;
}

/** The network failures of connections. */
export interface NetworkFailures {
  /** The time of the last one, in milliseconds of the monotonic clock. */
  last: number;
}

/** Creates the network failures of a database without any. */
export function createNetworkFailures(): NetworkFailures {
  return { last: Number.NEGATIVE_INFINITY };
}

/** The open connections of a pool. */
interface Connections {
  /** The same as `isDirect` of `Pool`. */
  readonly isDirect: boolean;
  of(client: pg.PoolClient): Connection;
  /** Returns true if a connection has answered since the last network failure, or was opened just now. */
  hasAnswered(client: pg.PoolClient): boolean;
  /** Applies our settings to a session that keeps them, unless it has them. */
  applySettings(connection: Connection): void;
  /** Ends the use of a connection. */
  release(client: pg.PoolClient, use: ConnectionUse): void;
}

function createConnections(pool: pg.Pool, sessionSettings: string, options: PoolOptions): Connections {
  let isDirect = false;
  let preparesStatements = options.preparedStatements ?? true;
  const connections = new WeakMap<pg.PoolClient, Connection>();
  /** The times of the last answers. */
  const answered = new WeakMap<pg.PoolClient, number>();
  pool.on('remove', (client) => {
    const known = connections.get(client);
    if (known !== undefined) options.slots.release(known.slot());
  });
  const toConnection = (client: pg.PoolClient): Connection =>
    createConnection(client, { preparesStatements: () => preparesStatements, slot: options.slots.take() });
  const connectionOf = (client: pg.PoolClient): Connection => getOrCreate(connections, client, () => toConnection(client));

  function applySettings(connection: Connection): void {
    if (connection.isDirect && !connection.hasSettings && preparesStatements) connection.applySettings(sessionSettings);
  }

  return {
    get isDirect() {
      return isDirect;
    },
    of: connectionOf,
    hasAnswered: (client) => (answered.get(client) ?? Number.POSITIVE_INFINITY) > options.failures.last,
    applySettings,
    release(client, { broken = false, retryReason }) {
      const connection = connectionOf(client);
      if (retryReason === 'statement') connection.forgetStatements();
      // The pooler has switched to a server connection without our prepared statements: from now on, statements are not prepared.
      if (retryReason === 'pooler') preparesStatements = false;
      if (!broken) applySettings(connection);
      isDirect = connection.hasSettings && preparesStatements;
      if (broken) options.onConnectionLost();
      else answered.set(client, performance.now());
      client.release(broken);
    },
  };
}

/** Creates a pool of at most `size` connections; it connects on first use. */
export function createPool(address: PostgresAddress, size: number, options: PoolOptions): Pool {
  const pool = openPool(address, size, options);
  const sessionSettings = `${toBeginStatements(address, options).sessionSettings}; SET statement_timeout = ${options.sessionTimeout}`;
  const connections = createConnections(pool, sessionSettings, options);

  return {
    get isDirect() {
      return connections.isDirect;
    },
    get total() {
      return pool.totalCount;
    },
    get idle() {
      return pool.idleCount;
    },
    get waiting() {
      return pool.waitingCount;
    },
    async lend(work, { unlimited = false, needsSettings = false } = {}) {
      const client = await takeAnswering(pool, connections);
      const connection = connections.of(client);
      connection.setIdleTimeout(unlimited ? undefined : (options.statementTimeout ?? STATEMENT_TIMEOUT) + ANSWER_GRACE);
      if (connection.isFull) connection.forgetStatements();
      if (needsSettings && !connection.hasSettings) {
        const found = await findBackendProcess(connection);
        if (!found.broken) connections.applySettings(connection);
        if (!connection.hasSettings) {
          connections.release(client, found);
          throw new SharedConnectionFailed('the session does not keep settings', { cause: found.error });
        }
      }
      const outcome = await work(connection);
      connections.release(client, outcome);
      return outcome;
    },
    close: () => pool.end(),
  };
}

/** Queries which process of the server answers, so that the connection knows if it is direct. */
async function findBackendProcess(connection: Connection): Promise<{ readonly broken: boolean; readonly error?: unknown }> {
  try {
    const { rows } = await connection.send('SELECT pg_backend_pid() AS "process"');
    connection.setBackendProcess(Number(rows[0]?.process));
    return { broken: false };
  } catch (error) {
    return { broken: true, error };
  }
}

function openPool(
  address: PostgresAddress,
  size: number,
  { connectTimeout = 5000, onConnectionLost: lost, failures }: PoolOptions,
): pg.Pool {
  const { host, port, user, password, database, ssl, applicationName } = address;
  const pool = new pg.Pool({
    ...{ host, port, user, database, ssl, application_name: applicationName },
    ...(password !== undefined && { password }),
    max: size,
    connectionTimeoutMillis: connectTimeout,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    // A command that has ended does not wait for idle connections.
    allowExitOnIdle: true,
    // Statements without a result (SAVEPOINT, RELEASE) are sent together with the next one.
    pipeline: true,
  });
  // The statements on a lost connection fail on their own. Without these listeners the driver's event would end the process.
  pool.on('error', () => lost());
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if (isNetworkFailure(error)) failures.last = performance.now();
    });
  });
  return pool;
}

/**
 * Takes a connection that has answered since the last network failure, and closes the others: the server or the route to it may be gone, and
 * another connection costs less than a request that fails or waits for the idle timeout.
 */
async function takeAnswering(pool: pg.Pool, connections: Connections): Promise<pg.PoolClient> {
  for (;;) {
    const client = await take(pool);
    if (connections.hasAnswered(client)) return client;
    connections.of(client).abort();
    client.release(true);
  }
}

async function take(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // The driver throws the same error if all connections are in use and if no connection can be opened.
    if (pool.totalCount - pool.idleCount >= (pool.options.max ?? 0)) throw busy(error);
    const known = fromDriver(error);
    // No connection is open that could become free.
    if (pool.totalCount === 0) throw unavailable(error);
    throw known instanceof Problem && known.status === 503 ? known : unavailable(error);
  }
}

/** Number of rows that a shared counter is split into. */
export const SLOT_COUNT = 32;

/** Numbers the connections of one process; two open connections never have the same number. */
export interface ConnectionSlots {
  /** Returns the first free slot and marks it as used. */
  take(): number;
  release(slot: number): void;
}

/**
 * Creates the slots. Freed slots are reused, because each slot in use adds a row to every shared counter. The first slot is random, so
 * that several processes rarely use the same one.
 */
export function createConnectionSlots(): ConnectionSlots {
  const taken = new Set<number>();
  const first = randomInt(SLOT_COUNT);

  return {
    take() {
      let slot = first;
      while (taken.has(slot)) slot++;
      taken.add(slot);
      return slot;
    },
    release: (slot) => void taken.delete(slot),
  };
}
