import type pg from 'pg';
import { createLazySavepoints, type LazySavepoints, type PendingSavepoints } from '../savepoints.ts';
import type { Connection } from './connection.ts';
import type { Clock } from './server-clock.ts';
import type { TransactionState } from './transaction-state.ts';

/** How transactions of a connection begin. */
export interface TransactionStart {
  /** Text that begins one. */
  readonly begin: string;
  readonly clock: Clock;
}

/** As much of a transaction as the server has been told. */
export interface LazyTransaction {
  readonly isBegun: boolean;
  /** Whether it may have changed something, or holds what others may want. */
  readonly isWriting: boolean;
  /** The number that the server gave it, once that has answered and it is writing. */
  readonly number: string | undefined;
  /** Begins it, before anything is asked. */
  begin(): void;
  /** Says that what follows writes, or holds something. */
  write(): void;
  readonly marks: PendingSavepoints;
  /** Throws what the server did not like about its beginning. */
  answered(): Promise<void>;
  /** False where the server did not do what was to undo all of it: then it may still be in the midst of that. */
  isUndone(): Promise<boolean>;
}

const NOW = `(extract(epoch FROM now()) * 1000)::bigint AS "now", pg_backend_pid() AS "process"`;
const NUMBER = `pg_current_xact_id()::text AS "number"`;

/**
 * Begins a transaction no sooner than it is needed. Where every statement sees what is committed by then, statements that only look are
 * the same without one, and two messages fewer.
 */
export function createLazyTransaction(
  connection: Connection,
  course: TransactionState,
  { begin, clock }: TransactionStart,
): LazyTransaction {
  const answers: Promise<void>[] = [];
  const told = { isBegun: false, isWriting: false, number: undefined as string | undefined };

  function send(text: string): void {
    const sentAt = Date.now();
    const answer = course
      .follow(() => connection.send(text))
      .then((result) => {
        const row = lastRow(result);
        if (row.now !== undefined) clock.set(row.now, sentAt);
        if (row.process !== undefined) connection.meet(row.process);
        told.number = row.number ?? told.number;
      });
    // Looked at when all is done; what is asked behind it fails of itself.
    answer.catch(() => undefined);
    answers.push(answer);
  }

  const rollbacks: Promise<boolean>[] = [];
  /** All that was written is undone; it begins anew where something is written again. */
  function startOver(): void {
    rollbacks.push(isDone(connection.send('ROLLBACK'), course));
    Object.assign(told, { isBegun: false, isWriting: false, number: undefined });
  }

  const marks = createLazySavepoints((text) => void connection.send(text).catch(course.note));
  function open(asking: string): void {
    told.isBegun = true;
    send(`${begin}; SELECT ${asking}`);
    marks.begin(startOver);
  }

  return Object.assign(told, {
    begin: () => open(NOW),
    write() {
      if (told.isWriting) return;
      told.isWriting = true;
      if (told.isBegun) send(`SELECT ${NUMBER}`);
      else open(`${NOW}, ${NUMBER}`);
    },
    marks: { open: (name: string) => openIn(marks, name, told), undo: marks.undo, release: marks.release },
    answered: async () => void (await Promise.all(answers)),
    isUndone: async () => (await Promise.all(rollbacks)).every((done) => done),
  });
}

/** A statement that fails fails all that is around it, up to the innermost savepoint that the server knows: so it is told of each at once. */
function openIn(marks: LazySavepoints, name: string, { isBegun }: Pick<LazyTransaction, 'isBegun'>): void {
  marks.open(name);
  if (isBegun) marks.send();
}

async function isDone(asked: Promise<unknown>, course: TransactionState): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    course.note(error);
    return false;
  }
}

interface Answered {
  readonly now?: number;
  readonly process?: number;
  readonly number?: string;
}

/** Of several statements in one message, the last one tells. */
function lastRow(result: unknown): Answered {
  const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<Answered> | undefined;
  return last?.rows[0] ?? {};
}
