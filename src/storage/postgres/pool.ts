import { randomInt } from 'node:crypto';
import pg from 'pg';
import { Problem } from '../../errors.ts';
import { entryOf } from '../../memoize.ts';
import { type Connection, createConnection } from './connection.ts';
import type { PostgresAddress, ServerOptions } from './connection-string.ts';
import { busy, fromDriver, type Passing, unavailable } from './driver-error.ts';

/** Texts that say how transactions go on. */
export interface Beginnings {
  /** Begins one on a connection that has our settings. */
  readonly own: string;
  /** Begins one on a connection that may have been somebody else's a moment ago: with settings that are its own. */
  readonly shared: string;
  /** The same for what may take minutes. */
  readonly patient: string;
  /** Makes the settings those of the connection. */
  readonly settings: string;
}

/** As much as it takes to know whether a connection can be used again. */
export interface Used {
  readonly broken?: boolean;
  readonly passing?: Passing | undefined;
}

/** Connections to one server. */
export interface Pool {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  /**
   * Lends a connection for as long as `work` takes; where that is not `patient`, the server has to answer in time. Throws Problems where
   * there is none.
   */
  lend<Outcome extends Used>(work: (connection: Connection) => Promise<Outcome>, how?: { readonly patient: boolean }): Promise<Outcome>;
  close(): Promise<void>;
}

/**
 * Has the server look every two seconds, while it works, whether whoever asked is still there: else what a process asked that was killed
 * would go on, and hold its locks, for as long as it takes. Servers know it from 14 on, but not on every system.
 */
export const CLIENT_CHECK = 'client_connection_check_interval = 2000';

const STATEMENT_TIMEOUT = 30_000;
/** The server ends a statement that takes too long, and says so: where nothing is heard so long after, nobody is there. */
const GRACE = 5000;
/** For a transaction of which nothing is heard: its process hangs, and holds up others. */
const IDLE_TIMEOUT = 30_000;
/** What is done with patience is cut off only where it hangs. */
const PATIENT_IDLE_TIMEOUT = 600_000;
/** A connection is closed after so long, so that after a failover, or behind a balancer, all move in time. */
const LIFETIME_SECONDS = 1800;

/** How a pool goes on. */
export interface PoolOptions extends ServerOptions {
  /** Called where a connection is lost. */
  lost(): void;
  /** Where its connections have their places, among those of others. */
  readonly places: ConnectionSlots;
}

/** Makes a pool of so many connections at most; it connects when it is first asked. */
export function createPool(address: PostgresAddress, size: number, options: PoolOptions): Pool {
  const pool = openPool(address, size, options);
  const { settings } = toBeginnings(address, options);
  const connections = new WeakMap<pg.PoolClient, Connection>();
  let named = options.preparedStatements ?? true;
  const connectionOf = (client: pg.PoolClient): Connection =>
    entryOf(connections, client, () => createConnection(client, { named: () => named, place: options.places.take() }));
  pool.on('remove', (client) => {
    const known = connections.get(client);
    if (known !== undefined) options.places.give(known.place);
  });

  return {
    get total() {
      return pool.totalCount;
    },
    get idle() {
      return pool.idleCount;
    },
    get waiting() {
      return pool.waitingCount;
    },
    async lend(work, { patient } = { patient: false }) {
      const client = await take(pool);
      const connection = connectionOf(client);
      connection.allowSilence(patient ? undefined : (options.statementTimeout ?? STATEMENT_TIMEOUT) + GRACE);
      if (connection.isFull) connection.forgetStatements();
      const outcome = await work(connection);
      if (outcome.passing === 'statement') connection.forgetStatements();
      // Whoever is in between has given our statements to somebody else's connection: no more names, then.
      if (outcome.passing === 'pooler') named = false;
      if (!outcome.broken && connection.isOwn && !connection.isSet && named) connection.settle(settings);
      if (outcome.broken) options.lost();
      client.release(outcome.broken ?? false);
      return outcome;
    },
    close: () => pool.end(),
  };
}

/**
 * What transactions begin with. Where a pooler is in between, settings are the transaction's own: they would reach whoever the
 * connection is given to next.
 */
export function toBeginnings(
  { schema }: PostgresAddress,
  { statementTimeout = STATEMENT_TIMEOUT, lockTimeout = 5000, checksClients = false }: ServerOptions,
): Beginnings {
  const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED';
  const own = `${begin} READ WRITE`;
  // What is sent behind a BEGIN is on its way before that is known to have worked: were it cancelled, each statement would be committed by itself.
  const outside = [`SET default_transaction_isolation = 'read committed'`, 'SET default_transaction_read_only = on'];
  const settings = (set: 'SET' | 'SET LOCAL', statement: number, idle: number): readonly string[] => [
    ...insisted(set),
    `${set} statement_timeout = ${statement}`,
    `${set} lock_timeout = ${lockTimeout}`,
    `${set} idle_in_transaction_session_timeout = ${idle}`,
    ...(checksClients ? [`${set} ${CLIENT_CHECK}`] : []),
    ...(schema === undefined ? [] : [`${set} search_path TO "${schema}"`]),
  ];
  return {
    own,
    shared: [begin, ...settings('SET LOCAL', statementTimeout, IDLE_TIMEOUT)].join('; '),
    patient: [own, ...settings('SET LOCAL', 0, PATIENT_IDLE_TIMEOUT)].join('; '),
    settings: [...settings('SET', statementTimeout, IDLE_TIMEOUT), ...outside].join('; '),
  };
}

/**
 * What a role or a database may be given other defaults for, at any time: commits that are answered before they are on the disk, or on the
 * standby that has to have them; backslashes that end texts in another place than we think; numbers with digits missing.
 */
function insisted(set: 'SET' | 'SET LOCAL'): readonly string[] {
  const weak = `current_setting('synchronous_commit', true) IN ('off', 'local')`;
  return [
    `SELECT set_config('synchronous_commit', 'on', ${set === 'SET LOCAL'}) WHERE ${weak}`,
    `${set} standard_conforming_strings = on`,
    `${set} extra_float_digits = 1`,
  ];
}

function openPool(address: PostgresAddress, size: number, { connectTimeout = 5000, lost }: PoolOptions): pg.Pool {
  const { host, port, user, password, database, ssl, applicationName } = address;
  const pool = new pg.Pool({
    ...{ host, port, user, database, ssl, application_name: applicationName },
    ...(password !== undefined && { password }),
    max: size,
    connectionTimeoutMillis: connectTimeout,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    // A command that is done, or failed on the way, does not wait for connections that nobody uses.
    allowExitOnIdle: true,
    // What needs no answer (SAVEPOINT, RELEASE) is sent together with what comes next.
    pipeline: true,
  });
  // Of a connection that is lost, whoever asks something of it learns; unheard, the driver's event would end the process.
  pool.on('error', () => lost());
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function take(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // Said in the same words where no connection is free and where none can be made.
    if (pool.totalCount - pool.idleCount >= (pool.options.max ?? 0)) throw busy(error);
    const known = fromDriver(error);
    // There is not even one to wait for.
    if (pool.totalCount === 0) throw unavailable(error);
    throw known instanceof Problem && known.status === 503 ? known : unavailable(error);
  }
}

/** Rows that many transactions count in are split in so many. */
export const SLOTS = 32;

/** Places of the connections of one process: of two at the same time, never the same. */
export interface ConnectionSlots {
  /** The first that is free. */
  take(): number;
  give(place: number): void;
}

/**
 * Makes them. Few are ever taken, whatever connections come and go: rows that are counted in are split by them, and each is one more to be
 * added up. Where they begin is up to chance, so that several processes rarely begin with the same.
 */
export function createConnectionSlots(): ConnectionSlots {
  const taken = new Set<number>();
  const first = randomInt(SLOTS);

  return {
    take() {
      let place = first;
      while (taken.has(place)) place++;
      taken.add(place);
      return place;
    },
    give: (place) => void taken.delete(place),
  };
}
