import { hash } from 'node:crypto';
import type pg from 'pg';
import { createStatements, type Query, type Statement } from '../contract.ts';
import { NoAnswer, PreparedError, serverCode } from './driver-error.ts';
import { type KnownColumns, sendQuery, toBound } from './prepared-query.ts';

/** The result of a statement. */
export interface QueryResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: number;
  /** Milliseconds for which the statement waited behind those of other units of work. */
  readonly waited?: number;
}

/**
 * The part of a connection that an attempt at a unit of work uses. It throws the driver's errors.
 *
 * `onSent` is called when a statement is sent after a wait for the connection, because the wait does not count as time of the statement.
 */
export interface AttemptConnection {
  /** Returns the number of the connection in this process; two open connections never have the same number. */
  slot(): number;
  /** Records which process of the server has answered. */
  setBackendProcess(process: number): void;
  query(statement: Statement, onSent?: () => void): Promise<QueryResult>;
  /** Sends a statement of a unit of work, perhaps on a connection that others share. Until the transaction writes or locks, such a statement only reads. */
  queryShared?(statement: Statement, onSent: () => void): Promise<QueryResult>;
  /** Sends fixed text without values. Earlier statements need not be answered yet: the server executes them in order. */
  send(text: string, onSent?: () => void): Promise<pg.QueryResult>;
}

/** One connection to the server. */
export interface Connection extends AttemptConnection {
  /** True if all statements reach the same process of the server, so that session settings last. False behind most poolers. */
  readonly isDirect: boolean;
  /** True if `applySettings` was called. */
  readonly hasSettings: boolean;
  /** Sets the milliseconds in which the server must answer; undefined waits without limit. */
  setIdleTimeout(milliseconds: number | undefined): void;
  /** Applies our settings to the session. Only for a direct connection. If this fails, the connection is closed. */
  applySettings(text: string): void;
  /** Deallocates all prepared statements: their tables have changed, or there are too many. */
  forgetStatements(): void;
  /** Closes the connection without a message to the server, which may be gone. */
  abort(): void;
  /** True if the connection remembers the maximum number of statements. */
  readonly isFull: boolean;
}

/** Maximum statements that a connection remembers: client filters produce any number of texts. */
const MAX_STATEMENTS = 500;

/** The members of the driver's network stream that this file uses. */
interface Stream {
  cork(): void;
  uncork(): void;
  destroy(error: Error): void;
}

/** The driver's client with members that its type declarations omit. */
type DriverClient = pg.PoolClient & {
  readonly processID?: number | null;
  /** `parsedStatements`: the statements that it has prepared, name → text. */
  readonly connection?: { readonly parsedStatements?: Record<string, string>; readonly stream?: Stream };
};

/** Options of a connection. */
export interface ConnectionOptions {
  readonly slot: number;
  /** Returns true if statements are prepared under names; a pooler that switches server connections may not know them. */
  preparesStatements(): boolean;
}

const NO_VALUES: Statement['parameters'] = [];

/** Creates a connection from an open client. */
export function createConnection(client: DriverClient, { preparesStatements, slot }: ConnectionOptions): Connection {
  const names = createStatementNames(preparesStatements);
  let hasSettings = false;
  let backendProcess: number | undefined;
  const knownColumns: KnownColumns = new Map();
  const idleTimeout = createIdleTimeout(() => close(client, new NoAnswer('the server does not answer')));
  const cork = createCorking(() => client.connection?.stream);
  // A pooler reports a process id of its own when we connect, and forwards our statements to processes with other ids.
  const isDirect = (): boolean => backendProcess !== undefined && backendProcess === client.processID;
  const { answered } = idleTimeout;
  function query(sql: string, parameters: Statement['parameters'] = NO_VALUES, name?: string): Promise<pg.QueryResult> {
    cork();
    idleTimeout.sent();
    return sendQuery(client, { sql, parameters, name }, { knownColumns: isDirect() ? knownColumns : undefined, answered });
  }

  return {
    slot: () => slot,
    get isDirect() {
      return isDirect();
    },
    get hasSettings() {
      return hasSettings;
    },
    setIdleTimeout: idleTimeout.set,
    setBackendProcess(process) {
      backendProcess = process;
    },
    applySettings(text) {
      hasSettings = true;
      closeIfRefused(client, query(text));
    },
    query({ sql, parameters }) {
      const name = names.nameOf(sql);
      return toResult(query(sql, parameters, name), name !== undefined);
    },
    send: (text) => query(text),
    abort: () => close(client, new Error('other connections to the server were lost')),
    forgetStatements() {
      const forgotten = names.forget();
      if (forgotten.length > 0) closeIfRefused(client, query('DEALLOCATE ALL'));
      forgetInDriver(client, forgotten);
      knownColumns.clear();
    },
    get isFull() {
      return names.isFull;
    },
  };
}

function close({ connection }: DriverClient, error: Error): void {
  connection?.stream?.destroy(error);
}

/** Closes the connection if a statement that changes the session fails: others would run in a session of another state. */
function closeIfRefused(client: DriverClient, sent: Promise<unknown>): void {
  sent.catch(() => close(client, new Error('the session could not be changed')));
}

/** The driver would keep the names and texts of statements for the lifetime of the connection. */
function forgetInDriver({ connection }: DriverClient, names: readonly string[]): void {
  for (const name of names) delete connection?.parsedStatements?.[name];
}

/** Creates a function that corks the stream: all statements of one turn of the event loop leave together, in fewer network writes. */
function createCorking(stream: () => Stream | undefined): () => void {
  let corked: Stream | undefined;

  function uncork(): void {
    corked?.uncork();
    corked = undefined;
  }

  return () => {
    if (corked !== undefined) return;
    corked = stream();
    corked?.cork();
    // Runs after the promise callbacks of this turn, which may send more statements.
    process.nextTick(uncork);
  };
}

/** Names of prepared statements. */
interface StatementNames {
  /** Returns the name for a text; undefined if names are off or the text is new: a statement that runs once is not worth preparing. */
  nameOf(text: string): string | undefined;
  /** Forgets all texts, and returns the names given to them. */
  forget(): readonly string[];
  readonly isFull: boolean;
}

function createStatementNames(preparesStatements: () => boolean): StatementNames {
  const seen = new Map<string, string | undefined>();

  return {
    nameOf(text) {
      if (!preparesStatements()) return undefined;
      if (!seen.has(text)) {
        seen.set(text, undefined);
        return undefined;
      }
      const name = seen.get(text) ?? toName(text);
      seen.set(text, name);
      return name;
    },
    forget() {
      const given = [...seen.values()].filter((name) => name !== undefined);
      seen.clear();
      return given;
    },
    get isFull() {
      return seen.size >= MAX_STATEMENTS;
    },
  };
}

/**
 * Derives the name of a statement from its text, so that all processes use the same name. A pooler may give us a server connection on
 * which another process has prepared statements. With a counter, a name could run the other process's statement.
 */
function toName(text: string): string {
  return `bailiwick_${hash('sha256', text, 'base64url')}`;
}

async function toResult(answer: Promise<pg.QueryResult>, isPrepared: boolean): Promise<QueryResult> {
  try {
    const { rows, rowCount } = await answer;
    return { rows: rows as Record<string, unknown>[], changes: rowCount ?? 0 };
  } catch (error) {
    throw isPrepared && serverCode(error) !== undefined ? new PreparedError('a prepared statement failed', { cause: error }) : error;
  }
}

const toText = createStatements((nth) => `$${nth}`);

/**
 * Converts a query to its text and the values as they are sent.
 *
 * @throws Problem VALUE_INVALID for a value that PostgreSQL cannot store
 */
export function toStatement(query: Query): Statement {
  const statement = toText(query);
  if (statement.parameters.length === 0) return statement;
  // No spread, which would copy the members one by one at run time.
  const { sql, isLookup, keepsRow } = statement;
  const parameters = statement.parameters.map(toBound);
  return isLookup === undefined && keepsRow === undefined ? { sql, parameters } : { ...statement, parameters };
}

/** Detects a server that no longer answers: a machine that is gone closes no connection. */
export interface IdleTimeout {
  /** Sets the milliseconds without an answer after which the connection is cut; undefined disables the timeout. */
  set(milliseconds: number | undefined): void;
  /** Notes that a statement was sent. Starts the timeout if none runs. */
  sent(): void;
  /** Notes that a statement has its answer, which may be an error. If others wait, the timeout begins again: an answer proves that the server is alive. */
  answered(): void;
}

/**
 * Creates the idle timeout of a connection.
 *
 * @param cutOff Destroys the connection, so that all its statements fail.
 */
export function createIdleTimeout(cutOff: () => void): IdleTimeout {
  let timeout: number | undefined;
  let unanswered = 0;
  /** The time of the last answer, or of the first statement after a pause. */
  let since = 0;
  let timer: NodeJS.Timeout | undefined;

  /** One timer runs on for many statements, because most are answered within a fraction of its time. */
  function start(milliseconds: number): void {
    // A connection that waits for an answer keeps the process alive by itself.
    timer = setTimeout(expire, milliseconds).unref();
  }

  function expire(): void {
    timer = undefined;
    if (timeout === undefined || unanswered === 0) return;
    const left = since + timeout - performance.now();
    if (left <= 0) cutOff();
    else start(left);
  }

  return {
    set(milliseconds) {
      timeout = milliseconds;
    },
    sent() {
      if (unanswered++ === 0) since = performance.now();
      if (timer === undefined && timeout !== undefined) start(timeout);
    },
    answered() {
      unanswered--;
      since = performance.now();
    },
  };
}
