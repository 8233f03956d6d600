import { Problem, SetupError } from '../../errors.ts';
import type { Transaction } from '../contract.ts';
import type { PostgresAddress } from './connection-string.ts';
import { findLockProblems } from './lock-check.ts';
import { CLIENT_CHECK } from './pool.ts';
import { createRunner, type RunnerOptions } from './runner.ts';

/** How it is looked. */
export interface ServerCheckOptions extends RunnerOptions {
  /** Whether the schema is made where it is missing, as it is unless this is false. */
  readonly makesSchema?: boolean;
}

/** What a server can do that not all can. */
export interface ServerFeatures {
  readonly checksClients: boolean;
}

/** Milliseconds for the second of two transactions to be answered, while the first is open. */
const BESIDE_TIMEOUT = 5000;

/** Looks at a server before anything rests on it, on connections of its own. Throws SetupError where it will not do. */
export async function checkServer(address: PostgresAddress, { log: _, ...options }: ServerCheckOptions): Promise<ServerFeatures> {
  const holder = createRunner(address, { ...options, connections: 1 });
  const other = createRunner(address, { ...options, connections: 1, statementTimeout: BESIDE_TIMEOUT });
  try {
    const { answer } = await holder.run((tx) => prepare(tx, address.schema, options.makesSchema ?? true), {});
    refuse(await findLockProblems({ holder, other }));
    return answer;
  } finally {
    await Promise.all([holder.close(), other.close()]);
  }
}

/** Looks at what the server says of itself, and makes the schema where there is none and it may. */
async function prepare(tx: Transaction, schema: string | undefined, makesSchema: boolean): Promise<ServerFeatures> {
  const facts = await loadFacts(tx);
  refuse(findServerProblems({ ...facts, schema: facts.schema ?? schema ?? null }));
  if (facts.schema === null && makesSchema) {
    // Two that make it at once would have one of them fail, whatever IF NOT EXISTS says.
    await tx.lock('schema');
    await tx.run({ sql: `CREATE SCHEMA IF NOT EXISTS "${schema}"`, parameters: [] });
  }
  return { checksClients: await isSupported(tx, `SET LOCAL ${CLIENT_CHECK}`) };
}

/** Whether the server takes a statement, which fails on others. */
export async function isSupported(tx: Transaction, sql: string): Promise<boolean> {
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

/** The oldest server that is spoken to: 14. */
const OLDEST = 140_000;

/** What a server says of itself; null where it knows nothing of it, as those that only speak like PostgreSQL. */
export interface ServerFacts {
  readonly version: string;
  readonly number: string;
  readonly fsync: string | null;
  readonly fullPageWrites: string | null;
  readonly encoding: string | null;
  readonly standby: number;
  readonly schema: string | null;
}

/** What the server says of itself. */
export async function loadFacts(tx: Transaction): Promise<ServerFacts> {
  const facts = await tx.one<ServerFacts>({ sql: FACTS, parameters: [] });
  if (facts === undefined) throw new Error('the server said nothing of itself');
  return facts;
}

const FACTS = `SELECT current_setting('server_version') AS "version", current_setting('server_version_num') AS "number",
  current_setting('fsync', true) AS "fsync", current_setting('full_page_writes', true) AS "fullPageWrites",
  current_setting('server_encoding', true) AS "encoding", pg_is_in_recovery() AS "standby", current_schema() AS "schema"`;

/** In words, why a server is not one on which what was answered is safe, or that could keep what it is given; nothing where it will do. */
export function findServerProblems(facts: ServerFacts): readonly string[] {
  const mistakes: string[] = [];
  if (Number(facts.number) < OLDEST) mistakes.push(`expected PostgreSQL 14 or newer, found ${facts.version}`);
  if (facts.standby === 1) mistakes.push('it is a hot standby, which takes no writes; expected the address of the primary');
  if (facts.fsync === 'off') mistakes.push('fsync is off: a crash of the machine could lose what was answered; expected fsync = on');
  if (facts.fullPageWrites === 'off')
    mistakes.push('full_page_writes is off: a crash of the machine could tear pages; expected full_page_writes = on');
  if (facts.encoding !== null && facts.encoding !== 'UTF8')
    mistakes.push(`expected a database with the encoding UTF8, found ${facts.encoding}`);
  if (facts.schema === null) mistakes.push('there is no schema to make tables in: name one with ?schema= in the address');
  return mistakes;
}
