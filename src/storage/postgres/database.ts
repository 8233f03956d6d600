import { Problem, SetupError } from '../../errors.ts';
import type { AppendStatements, Database, Transaction, TransactionOptions } from '../contract.ts';
import { createHealth } from '../storage-health.ts';
import { type PostgresAddress, parsePostgresUrl, toDisplayUrl } from './connection-string.ts';
import { createRunner, type RunnerOptions } from './runner.ts';
import { checkServer } from './server-checks.ts';
import { postgresDialect } from './sql-dialect.ts';

/** The address of the database and the options of its connections. */
export interface PostgresOptions extends RunnerOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app` */
  readonly url: string;
  /** Creates a missing schema; true if absent. False for a process that only reads. */
  readonly makesSchema?: boolean;
}

/**
 * Opens a PostgreSQL database. Units of work run concurrently, each in a transaction of its own with READ COMMITTED; locks and constraints
 * protect what must not happen twice at once (see `Transaction`). After a conflict a unit of work runs again.
 *
 * @throws SetupError if the server cannot be reached or cannot store data safely.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const address = parsePostgresUrl(options.url);
  const features = await checkServer(address, options).catch((error) => refuse(address, error));
  return createDatabase(address, { ...options, ...features });
}

/** Creates the database of a server that is known to store data safely, in a schema that exists. It connects with the first unit of work. */
export function createDatabase(address: PostgresAddress, options: RunnerOptions): Database {
  const runner = createRunner(address, options);
  const running = new Set<Promise<unknown>>();
  const prove = (): Promise<void> => transaction(probe).catch(() => health.set(false));
  const health = createHealth(prove);
  let closing: Promise<void> | undefined;

  async function transaction<T>(work: (tx: Transaction) => Promise<T>, how: TransactionOptions = {}): Promise<T> {
    if (closing !== undefined) throw new Problem('STORAGE_UNAVAILABLE', 'the database is closed');
    const result = runner.run(work, how);
    running.add(result);
    try {
      const { answer, wrote } = await result;
      if (wrote) health.set(true);
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE') health.set(false);
      throw error;
    } finally {
      running.delete(result);
    }
  }

  async function close(): Promise<void> {
    health.stop();
    await Promise.allSettled(running);
    await runner.close();
  }

  return {
    dialect: postgresDialect,
    transaction,
    get healthy() {
      return health.isHealthy;
    },
    get fault() {
      return runner.fault;
    },
    probe: prove,
    get metrics() {
      return runner.metrics;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Throws a SetupError with the driver's message, for the operator; the message never contains the password. */
function refuse(address: PostgresAddress, error: unknown): never {
  if (error instanceof SetupError) throw error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  throw new SetupError(`cannot use the database ${toDisplayUrl(address)}: ${cause instanceof Error ? cause.message : String(cause)}`);
}

/** Queries and commits like a request with an audit entry, on connections of both pools, and changes nothing. */
async function probe(tx: Transaction): Promise<void> {
  await tx.one({ sql: 'SELECT 1', parameters: [] });
  tx.append(NO_ROWS, ['none']);
}

/** Appends no row, but causes a commit that writes to the WAL. */
const NO_ROWS: AppendStatements<string> = Object.freeze({
  write: () => [{ sql: 'SELECT pg_current_xact_id()', parameters: [] }],
  findCommitted: () => ({ sql: 'SELECT 1 WHERE FALSE', parameters: [] }),
});
