import { Problem, SetupError } from '../../errors.ts';
import type { Transaction } from '../database.ts';
import type { PostgresAddress } from './address.ts';
import { findLockMistakes } from './locks.ts';
import { CLIENT_CHECK } from './pool.ts';
import { createRunner, type RunnerOptions } from './runner.ts';
import { loadFacts, mistakesOf } from './server.ts';

/** How it is looked. */
export interface LookOptions extends RunnerOptions {
  /** Whether the schema is made where it is missing, as it is unless this is false. */
  readonly makesSchema?: boolean;
}

/** What a server can do that not all can. */
export interface Abilities {
  readonly checksClients: boolean;
}

/** Milliseconds for the second of two transactions to be answered, while the first is open. */
const BESIDE_TIMEOUT = 5000;

/** Looks at a server before anything rests on it, on connections of its own. Throws SetupError where it will not do. */
export async function lookAtServer(address: PostgresAddress, { tell: _, ...options }: LookOptions): Promise<Abilities> {
  const holder = createRunner(address, { ...options, connections: 1 });
  const other = createRunner(address, { ...options, connections: 1, statementTimeout: BESIDE_TIMEOUT });
  try {
    const { answer } = await holder.run((tx) => prepare(tx, address.schema, options.makesSchema ?? true), {});
    refuse(await findLockMistakes({ holder, other }));
    return answer;
  } finally {
    await Promise.all([holder.close(), other.close()]);
  }
}

/** Looks at what the server says of itself, and makes the schema where there is none and it may. */
async function prepare(tx: Transaction, schema: string | undefined, makesSchema: boolean): Promise<Abilities> {
  const facts = await loadFacts(tx);
  refuse(mistakesOf({ ...facts, schema: facts.schema ?? schema ?? null }));
  if (facts.schema === null && makesSchema) {
    // Two that make it at once would have one of them fail, whatever IF NOT EXISTS says.
    await tx.lock('schema');
    await tx.run({ sql: `CREATE SCHEMA IF NOT EXISTS "${schema}"`, parameters: [] });
  }
  return { checksClients: await takes(tx, `SET LOCAL ${CLIENT_CHECK}`) };
}

/** Whether the server takes a statement, which fails on others. */
export async function takes(tx: Transaction, sql: string): Promise<boolean> {
  try {
    await tx.savepoint(() => tx.run({ sql, parameters: [] }));
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'INTERNAL') return false;
    throw error;
  }
}

function refuse(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new SetupError('the PostgreSQL server cannot keep what it is given', mistakes);
}
