import { randomInt } from 'node:crypto';
import { Problem, SetupError } from '../../errors.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { PostgresAddress } from './connection-string.ts';
import { toLockKey } from './locks.ts';
import { createRunner, type Runner, type RunnerOptions } from './runner.ts';
import { CLIENT_CHECK } from './session-settings.ts';

/** Options of `checkServer`. */
export interface ServerCheckOptions extends RunnerOptions {
  /** Creates a missing schema; true if absent. */
  readonly makesSchema?: boolean;
}

/** Features that not every server has. */
export interface ServerFeatures {
  readonly checksClients: boolean;
}

/** Statement timeout of the second of two concurrent transactions, in milliseconds. */
const SECOND_TIMEOUT = 5000;

/** Checks the server at start, on connections of its own. Throws SetupError if it cannot store data safely. */
export async function checkServer(address: PostgresAddress, { log: _, ...options }: ServerCheckOptions): Promise<ServerFeatures> {
  const holder = createRunner(address, { ...options, connections: 1 });
  const other = createRunner(address, { ...options, connections: 1, statementTimeout: SECOND_TIMEOUT });
  try {
    const { answer } = await holder.run((tx) => prepare(tx, address.schema, options.makesSchema ?? true), {});
    refuse(await findLockProblems({ holder, other }));
    return answer;
  } finally {
    await Promise.all([holder.close(), other.close()]);
  }
}

/** Checks the server's settings, creates the schema if it is missing, and returns the supported features. */
async function prepare(tx: Transaction, schema: string | undefined, makesSchema: boolean): Promise<ServerFeatures> {
  const facts = await loadFacts(tx);
  refuse(findServerProblems({ ...facts, schema: facts.schema ?? schema ?? null }));
  if (facts.schema === null && makesSchema) {
    // IF NOT EXISTS does not prevent an error if two processes create the schema at the same time.
    await tx.lock('schema');
    await tx.run({ sql: `CREATE SCHEMA IF NOT EXISTS "${schema}"`, parameters: [] });
  }
  return { checksClients: await isSupported(tx, `SET LOCAL ${CLIENT_CHECK}`) };
}

/** Runs a statement in a savepoint. Returns false if the server does not support the statement. */
export async function isSupported(tx: Transaction, sql: string): Promise<boolean> {
  try {
    await tx.savepoint(() => tx.run({ sql, parameters: [] }));
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'INTERNAL') return false;
    throw error;
  }
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new SetupError('the PostgreSQL server cannot store data safely', problems);
}

/** The oldest supported version, 14, as in `server_version_num`. */
const OLDEST = 140_000;

/** Settings of a server; null for settings that a PostgreSQL-compatible server does not know. `schema` is null if the schema is missing. */
export interface ServerFacts {
  readonly version: string;
  readonly number: string;
  readonly fsync: string | null;
  readonly fullPageWrites: string | null;
  readonly encoding: string | null;
  readonly standby: number;
  readonly schema: string | null;
}

/** Loads the settings of the server. */
async function loadFacts(tx: Transaction): Promise<ServerFacts> {
  const facts = await tx.one<ServerFacts>({ sql: FACTS, parameters: [] });
  if (facts === undefined) throw new Error('the server returned no settings');
  return facts;
}

const FACTS = `SELECT current_setting('server_version') AS "version", current_setting('server_version_num') AS "number",
  current_setting('fsync', true) AS "fsync", current_setting('full_page_writes', true) AS "fullPageWrites",
  current_setting('server_encoding', true) AS "encoding", pg_is_in_recovery() AS "standby", current_schema() AS "schema"`;

/** Returns the reasons why the server cannot store data safely; empty if it can. */
export function findServerProblems(facts: ServerFacts): readonly string[] {
  const problems: string[] = [];
  if (Number(facts.number) < OLDEST) problems.push(`expected PostgreSQL 14 or newer, found ${facts.version}`);
  if (facts.standby === 1) problems.push('the server is a hot standby and accepts no writes; expected the address of the primary');
  if (facts.fsync === 'off') problems.push('fsync is off: a crash of the machine could lose acknowledged changes; expected fsync = on');
  if (facts.fullPageWrites === 'off')
    problems.push('full_page_writes is off: a crash of the machine could leave torn pages; expected full_page_writes = on');
  if (facts.encoding !== null && facts.encoding !== 'UTF8')
    problems.push(`expected a database with the encoding UTF8, found ${facts.encoding}`);
  if (facts.schema === null) problems.push('there is no schema for the tables: name one with ?schema= in the address');
  return problems;
}

/** Two runners, so that a transaction of one stays open while the other is queried. */
export interface RunnerPair {
  readonly holder: Runner;
  readonly other: Runner;
  /** Milliseconds for the whole check. */
  readonly timeout?: number;
}

const TIMEOUT = 60_000;
/** Maximum milliseconds between two attempts. */
const MAX_PAUSE = 50;

/**
 * Returns the reasons why advisory locks do not work; empty if they do. PostgreSQL-compatible servers may accept the lock functions without
 * locking anything and without an error. So one transaction takes a lock, and another one tries to get it.
 */
export async function findLockProblems({ holder, other, timeout = TIMEOUT }: RunnerPair): Promise<readonly string[]> {
  for (const end = performance.now() + timeout; performance.now() < end; ) {
    const problems = await findOnce(holder, other);
    if (problems !== undefined) return problems;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE));
  }
  return ['a second transaction got no answer while a first one was open: expected at least two connections'];
}

/** Random locks that no other process takes: a named one, and one of the kind that commit validation takes. */
interface RandomLocks {
  readonly name: string;
  readonly key: Sql;
}

/** Checks once and returns the problems; undefined if another process is checking or the second transaction cannot run at present. */
async function findOnce(holder: Runner, other: Runner): Promise<readonly string[] | undefined> {
  const locks = { name: `locks ${randomInt(2 ** 47)}`, key: sql`${randomInt(2 ** 31)}::integer, ${randomInt(2 ** 31)}::integer` };
  const { answer } = await holder.run(async (tx) => {
    await tx.lock(locks.name);
    await tx.one(sql`SELECT pg_advisory_xact_lock_shared(${locks.key})`);
    // Behind a pooler, many processes that start at once would each hold a connection and wait for another one. So only one process
    // checks at a time; the others try again later.
    const turn = await tx.one<{ readonly isOurs: number; readonly isFree: number }>(sql`SELECT
      pg_try_advisory_xact_lock(${TURN_KEY}) AS "isOurs", pg_try_advisory_xact_lock(${toLockKey(`${locks.name}, free`)}) AS "isFree"`);
    if (turn?.isFree !== 1) return ['pg_try_advisory_xact_lock fails for a lock that no transaction holds'];
    if (turn.isOurs !== 1) return undefined;
    // Only here does an open transaction await another one: the check needs two at the same time.
    return await other.run((second) => findProblems(second, locks), {}).then((ran) => ran.answer, ignoreUnavailable);
  }, {});
  return answer;
}

/** The lock key by which processes check in turn. It is the same in all schemas, because a pooler's connections serve all schemas. */
const TURN_KEY = sql`hashtextextended('bailiwick looks whether locks lock', 0)`;

async function findProblems(tx: Transaction, { name, key }: RandomLocks): Promise<readonly string[]> {
  const got = await tx.one<{ readonly [lock in 'name' | 'key']: number }>(sql`SELECT
    pg_try_advisory_xact_lock(${toLockKey(name)}) AS "name",
    pg_try_advisory_xact_lock(${key}) AS "key"`);
  return [
    ...(got?.name === 0 ? [] : ['pg_advisory_xact_lock locks nothing: two transactions hold the same lock']),
    ...(got?.key === 0 ? [] : ['pg_advisory_xact_lock_shared locks nothing: another transaction gets the exclusive lock']),
  ];
}

function ignoreUnavailable(error: unknown): undefined {
  if (!(error instanceof Problem) || error.status !== 503) throw error;
}
