import { Problem, SetupError } from '../../errors.ts';
import type { AppendStatements, Database, Transaction, TransactionOptions } from '../contract.ts';
import { createHealth } from '../storage-health.ts';
import { type PostgresAddress, parsePostgresUrl, toDisplayUrl } from './connection-string.ts';
import { createRunner, type RunnerOptions } from './runner.ts';
import { checkServer } from './server-checks.ts';
import { postgresDialect } from './sql-dialect.ts';

/** Where the database is and how it is spoken to. */
export interface PostgresOptions extends RunnerOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app` */
  readonly url: string;
  /** Whether the schema is made where it is missing, as it is unless this is false: not by who only looks. */
  readonly makesSchema?: boolean;
}

/**
 * Opens a PostgreSQL database. Works run side by side, each in a transaction of its own, READ COMMITTED; whatever must not
 * happen twice at once says so by locks and constraints (see `database.ts`). A work that loses to another is run again.
 *
 * @throws SetupError where the server cannot be reached, or cannot keep what it is given.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const address = parsePostgresUrl(options.url);
  const abilities = await checkServer(address, options).catch((error) => refuse(address, error));
  const runner = createRunner(address, { ...options, ...abilities });
  const running = new Set<Promise<unknown>>();
  const prove = (): Promise<void> => transaction(probe).catch(() => health.set(false));
  const health = createHealth(prove);
  let closing: Promise<void> | undefined;

  async function transaction<T>(work: (tx: Transaction) => Promise<T>, how: TransactionOptions = {}): Promise<T> {
    if (closing !== undefined) throw new Problem('STORAGE_UNAVAILABLE', 'the database is closed');
    const ran = runner.run(work, how);
    running.add(ran);
    try {
      const { answer, wrote } = await ran;
      if (wrote) health.set(true);
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE') health.set(false);
      throw error;
    } finally {
      running.delete(ran);
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

/** Goes the way of a request that is recorded, over connections of both kinds, and changes nothing. */
async function probe(tx: Transaction): Promise<void> {
  await tx.one({ sql: 'SELECT 1', parameters: [] });
  await tx.append(NOTHING, ['nothing']);
}

/** Appends no row and has a commit written. */
const NOTHING: AppendStatements<string> = Object.freeze({
  write: () => [{ sql: 'SELECT pg_current_xact_id()', parameters: [] }],
  find: () => ({ sql: 'SELECT 1 WHERE FALSE', parameters: [] }),
});
