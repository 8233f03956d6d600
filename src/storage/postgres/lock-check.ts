import { randomInt } from 'node:crypto';
import { Problem } from '../../errors.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { Runner } from './runner.ts';
import { toLockKey } from './transaction-handle.ts';

/** Two runners, so that a transaction of one can be open while the other is asked; each has connections of its own. */
export interface RunnerPair {
  readonly holder: Runner;
  readonly other: Runner;
  /** Milliseconds for both to be answered. */
  readonly timeout?: number;
}

const PATIENCE = 60_000;
/** Milliseconds at most until it is looked once more whether it is our turn. */
const PAUSE = 50;

/**
 * In words, why locks do not lock; nothing where they do. Servers that only speak like PostgreSQL may know the functions and do nothing:
 * nobody would wait for anybody, and nobody would notice. So what one transaction holds, another one tries to get.
 */
export async function findLockProblems({ holder, other, timeout: patience = PATIENCE }: RunnerPair): Promise<readonly string[]> {
  for (const end = performance.now() + patience; performance.now() < end; ) {
    const mistakes = await findOnce(holder, other);
    if (mistakes !== undefined) return mistakes;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE));
  }
  return ['a second transaction was not answered beside a first one: expected two connections at least'];
}

/** What nobody else locks meanwhile: a name, and a place of the guard's kind. */
interface Locked {
  readonly name: string;
  readonly place: Sql;
}

/** Undefined where it is to be tried again. */
async function findOnce(holder: Runner, other: Runner): Promise<readonly string[] | undefined> {
  const locked = { name: `locks ${randomInt(2 ** 47)}`, place: sql`${randomInt(2 ** 31)}::integer, ${randomInt(2 ** 31)}::integer` };
  const { answer } = await holder.run(async (tx) => {
    await tx.lock(locked.name);
    await tx.one(sql`SELECT pg_advisory_xact_lock_shared(${locked.place})`);
    // Behind a pooler, many who begin at once would each hold a connection and wait for another: one after the other, none of them waiting.
    const turn = await tx.one<{ readonly isOurs: number; readonly isFree: number }>(sql`SELECT
      pg_try_advisory_xact_lock(${TURN}) AS "isOurs", pg_try_advisory_xact_lock(${toLockKey(`${locked.name}, free`)}) AS "isFree"`);
    if (turn?.isFree !== 1) return ['pg_try_advisory_xact_lock does not get a lock that nobody holds'];
    if (turn.isOurs !== 1) return undefined;
    // Of all transactions, this one waits for another: that is what is asked here.
    return await other.run((beside) => findMistakes(beside, locked), {}).then((ran) => ran.answer, unheard);
  }, {});
  return answer;
}

/** The same in all schemas: poolers do not tell them apart. */
const TURN = sql`hashtextextended('bailiwick looks whether locks lock', 0)`;

async function findMistakes(tx: Transaction, { name, place }: Locked): Promise<readonly string[]> {
  const got = await tx.one<{ readonly [lock in 'name' | 'place']: number }>(sql`SELECT
    pg_try_advisory_xact_lock(${toLockKey(name)}) AS "name",
    pg_try_advisory_xact_lock(${place}) AS "place"`);
  return [
    ...(got?.name === 0 ? [] : ['pg_advisory_xact_lock locks nothing: two transactions hold the same lock']),
    ...(got?.place === 0 ? [] : ['pg_advisory_xact_lock_shared locks nothing: what one transaction holds, another has for itself']),
  ];
}

function unheard(error: unknown): undefined {
  if (!(error instanceof Problem) || error.status !== 503) throw error;
}
