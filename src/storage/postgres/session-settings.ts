import type { PostgresAddress, ServerOptions } from './connection-string.ts';

/** SQL texts that begin transactions and set their options. */
export interface BeginStatements {
  /** Begins a transaction on a connection that has our settings. */
  readonly own: string;
  /** Begins a transaction with its own settings but the statement timeout, on a connection that other clients may have used before. */
  readonly shared: string;
  /** Begins a transaction without the time limits of requests. */
  readonly unlimited: string;
  /** Sets the options of the session but the statement timeout. */
  readonly sessionSettings: string;
}

/**
 * Makes the server check every two seconds, while a statement runs, that the client is still connected. Otherwise the statements of a
 * killed process would run to their end and hold their locks. Servers support the setting from version 14 on, but not on every operating
 * system.
 */
export const CLIENT_CHECK = 'client_connection_check_interval = 2000';

/** Milliseconds after which the server ends an idle transaction, whose client hangs and holds its locks. */
const IDLE_TIMEOUT = 30_000;
/** Milliseconds after which the server ends an idle transaction without the time limits of requests. */
const UNLIMITED_IDLE_TIMEOUT = 600_000;

/**
 * Renders the texts that begin transactions. Behind a pooler the settings belong to the transaction: settings of the session would
 * reach the next client of that connection.
 */
export function toBeginStatements(
  { schema }: PostgresAddress,
  { lockTimeout = 5000, checksClients = false, parallelWorkers = 0 }: ServerOptions,
): BeginStatements {
  const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED';
  const own = `${begin} READ WRITE`;
  // Statements are sent before the answer to BEGIN. If BEGIN fails, these defaults make them fail too; otherwise each would commit on its own.
  const defaults = [`SET default_transaction_isolation = 'read committed'`, 'SET default_transaction_read_only = on'];
  const settings = (set: 'SET' | 'SET LOCAL', idle: number): readonly string[] => [
    ...requiredSettings(set),
    `${set} lock_timeout = ${lockTimeout}`,
    `${set} idle_in_transaction_session_timeout = ${idle}`,
    ...(checksClients ? [`${set} ${CLIENT_CHECK}`] : []),
    ...(schema === undefined ? [] : [`${set} search_path TO "${schema}"`]),
  ];
  const forRequests = { workers: String(parallelWorkers), jit: 'off' };
  const ofServer = { workers: 'DEFAULT', jit: 'DEFAULT' };
  const unlimited = [...settings('SET LOCAL', UNLIMITED_IDLE_TIMEOUT), ...plannerSettings('SET LOCAL', ofServer)];
  return {
    own,
    shared: [begin, ...settings('SET LOCAL', IDLE_TIMEOUT), ...plannerSettings('SET LOCAL', forRequests)].join('; '),
    unlimited: [own, ...unlimited, 'SET LOCAL statement_timeout = 0'].join('; '),
    sessionSettings: [...settings('SET', IDLE_TIMEOUT), ...plannerSettings('SET', forRequests), ...defaults].join('; '),
  };
}

/**
 * Renders the settings of the query planner. The parallel workers of one search would take the processors from the statements of other requests.
 * The server cannot interrupt the compilation of a statement to machine code, which can take seconds.
 */
function plannerSettings(
  set: 'SET' | 'SET LOCAL',
  { workers, jit }: { readonly workers: string; readonly jit: string },
): readonly string[] {
  return [`${set} max_parallel_workers_per_gather = ${workers}`, `${set} jit = ${jit}`];
}

/**
 * Settings that a server, a database or a role can override at any time, and that must have these values: commits wait for the disk or the
 * synchronous standby, transactions have the time limits of this program only, backslashes in strings are literal, and floats keep all
 * digits. A stronger synchronous_commit is kept, and set too: otherwise a session would follow a reload of the server configuration.
 */
function requiredSettings(set: 'SET' | 'SET LOCAL'): readonly string[] {
  const isLocal = set === 'SET LOCAL';
  const commit = `current_setting('synchronous_commit', true)`;
  const durable = `CASE WHEN ${commit} IN ('off', 'local') THEN 'on' ELSE ${commit} END`;
  return [
    `SELECT set_config('synchronous_commit', ${durable}, ${isLocal})`,
    // Servers know it from version 17 on.
    `SELECT set_config('transaction_timeout', '0', ${isLocal}) WHERE current_setting('transaction_timeout', true) IS NOT NULL`,
    `${set} standard_conforming_strings = on`,
    `${set} extra_float_digits = 1`,
  ];
}
