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
  /** Begins it, where it is not. */
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
  let begun = false;
  let writing = false;
  let number: string | undefined;

  function send(text: string): void {
    const answer = course.follow(() => connection.send(text)).then(learn);
    // Looked at when all is done; what is asked behind it fails of itself.
    answer.catch(() => undefined);
    answers.push(answer);
  }

  function learn(result: unknown): void {
    const told = lastRow(result);
    if (told.now !== undefined) clock.set(told.now);
    if (told.process !== undefined) connection.meet(told.process);
    number = told.number ?? number;
  }

  function open(asking: string): void {
    begun = true;
    send(`${begin}; SELECT ${asking}`);
    for (const text of unsent.splice(0)) sendMark(text);
  }

  function sendMark(text: string): void {
    connection.send(text).catch((error: unknown) => course.note(error));
  }

  return {
    get isBegun() {
      return begun;
    },
    get isWriting() {
      return writing;
    },
    get number() {
      return number;
    },
    begin() {
      if (!begun) open(NOW);
    },
    write() {
      if (writing) return;
      writing = true;
      if (begun) send(`SELECT ${NUMBER}`);
      else open(`${NOW}, ${NUMBER}`);
    },
    mark(text) {
      if (begun) sendMark(text);
      else if (text.startsWith('SAVEPOINT')) unsent.push(text);
      else if (text.startsWith('RELEASE')) unsent.pop();
    },
    async answered() {
      await Promise.all(answers);
    },
  };
}

interface Told {
  readonly now?: number;
  readonly process?: number;
  readonly number?: string;
}

/** Of several statements in one message, the last one tells. */
function lastRow(result: unknown): Told {
  const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<Told> | undefined;
  return last?.rows[0] ?? {};
}
