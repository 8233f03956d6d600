import type pg from 'pg';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Course } from './course.ts';

/** How transactions of a connection begin. */
export interface Beginning {
  /** Text that begins one. */
  readonly begin: string;
  readonly clock: Clock;
}

/** As much of a transaction as the server has been told. */
export interface Span {
  readonly isBegun: boolean;
  /** Whether it may have changed something, or holds what others may want. */
  readonly isWriting: boolean;
  /** The number that the server gave it, once that has answered and it is writing. */
  readonly number: string | undefined;
  /** Begins it, before anything is asked. */
  begin(): void;
  /** Says that what follows writes, or holds something. */
  write(): void;
  /** Sends what makes, releases and undoes savepoints. */
  mark(text: string): void;
  /** Throws what the server did not like about its beginning. */
  answered(): Promise<void>;
}

const NOW = `(extract(epoch FROM now()) * 1000)::bigint AS "now", pg_backend_pid() AS "process"`;
const NUMBER = `pg_current_xact_id()::text AS "number"`;

/**
 * Begins a transaction no sooner than it is needed. Where every statement sees what is committed by then, statements that only look are
 * the same without one, and two messages fewer.
 */
export function createSpan(connection: Connection, course: Course, { begin, clock }: Beginning): Span {
  const answers: Promise<void>[] = [];
  /** Savepoints in which nothing was asked that the server would have to undo. */
  const unsent: string[] = [];
  const told = { isBegun: false, isWriting: false, number: undefined as string | undefined };

  function send(text: string): void {
    const answer = course
      .follow(() => connection.send(text))
      .then((result) => {
        const row = lastRow(result);
        if (row.now !== undefined) clock.set(row.now);
        if (row.process !== undefined) connection.meet(row.process);
        told.number = row.number ?? told.number;
      });
    // Looked at when all is done; what is asked behind it fails of itself.
    answer.catch(() => undefined);
    answers.push(answer);
  }

  const sendMark = (text: string): void => void connection.send(text).catch(course.note);
  function open(asking: string): void {
    told.isBegun = true;
    send(`${begin}; SELECT ${asking}`);
    for (const text of unsent.splice(0)) sendMark(text);
  }

  return Object.assign(told, {
    begin: () => open(NOW),
    write() {
      if (told.isWriting) return;
      told.isWriting = true;
      if (told.isBegun) send(`SELECT ${NUMBER}`);
      else open(`${NOW}, ${NUMBER}`);
    },
    mark(text: string) {
      if (told.isBegun) sendMark(text);
      else if (text.startsWith('SAVEPOINT')) unsent.push(text);
      else if (text.startsWith('RELEASE')) unsent.pop();
    },
    answered: async () => void (await Promise.all(answers)),
  });
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
