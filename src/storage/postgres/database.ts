import { Problem, SetupError } from '../../errors.ts';
import type { Database, Transaction, TransactionOptions } from '../database.ts';
import { createHealth } from '../health.ts';
import { type PostgresAddress, readPostgresUrl, showPostgresUrl } from './address.ts';
import { findLockMistakes } from './locks.ts';
import { createRunner, type Runner, type RunnerOptions } from './runner.ts';
import { loadFacts, mistakesOf } from './server.ts';
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
  const address = readPostgresUrl(options.url);
  const runner = createRunner(address, options);
  const running = new Set<Promise<unknown>>();
  const prove = (): Promise<void> => transaction(probe).catch(() => undefined);
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

  await prepare(runner, address, options).catch(async (error) => {
    await close();
    throw inWords(address, error);
  });
  return {
    dialect: postgresDialect,
    transaction,
    get healthy() {
      return health.isGood;
    },
    prove,
    get figures() {
      return runner.figures;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Looks at the server before anything rests on it. */
async function prepare(runner: Runner, address: PostgresAddress, options: PostgresOptions): Promise<void> {
  await runner.run((tx) => prepareSchema(tx, address.schema, options.makesSchema ?? true), {});
  const other = createRunner(address, { ...options, connections: 1, statementTimeout: BESIDE_TIMEOUT });
  try {
    refuse(await findLockMistakes({ holder: runner, other }));
  } finally {
    await other.close();
  }
}

/** Milliseconds for the second of two transactions to be answered, while the first is open. */
const BESIDE_TIMEOUT = 5000;

/** Looks at what the server says of itself, and makes the schema where there is none and it may. */
async function prepareSchema(tx: Transaction, schema: string | undefined, makesSchema: boolean): Promise<void> {
  const facts = await loadFacts(tx);
  const mistakes = mistakesOf({ ...facts, schema: facts.schema ?? schema ?? null });
  refuse(mistakes);
  if (facts.schema !== null || !makesSchema) return;
  // Two that make it at once would have one of them fail, whatever IF NOT EXISTS says.
  await tx.lock('schema');
  await tx.run({ sql: `CREATE SCHEMA IF NOT EXISTS "${schema}"`, parameters: [] });
}

function refuse(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new SetupError('the PostgreSQL server cannot keep what it is given', mistakes);
}

/** The driver's own words are for whoever sets the program up, and its password is in none of them. */
function inWords(address: PostgresAddress, error: unknown): SetupError {
  if (error instanceof SetupError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new SetupError(`cannot use the database ${showPostgresUrl(address)}: ${cause instanceof Error ? cause.message : String(cause)}`);
}

/** Has a commit written and changes nothing. What it came to is known by `healthy`, which every commit sets. */
async function probe(tx: Transaction): Promise<void> {
  await tx.run({ sql: 'SELECT pg_current_xact_id()', parameters: [] });
}
