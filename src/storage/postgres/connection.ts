import { hash } from 'node:crypto';
import type pg from 'pg';
import { createStatements, type Query, type Statement } from '../contract.ts';
import { PreparedError, serverCode } from './driver-error.ts';
import { askClient, type Described } from './prepared-query.ts';
import { toBound } from './query-values.ts';

/** What a statement came to. */
export interface QueryResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: number;
}

/** One connection to the server. What it throws is the driver's. */
export interface Connection {
  /** Its place among those of this process: of two at the same time, never the same. */
  readonly place: number;
  /** Whether all that is said to it is said to one process of the server: settings made on it stay. Not so behind most poolers. */
  readonly isOwn: boolean;
  /** Whether it has our settings. */
  readonly isSet: boolean;
  /** For how many milliseconds the server may say nothing while it is asked; undefined: for as long as it takes. */
  allowSilence(milliseconds: number | undefined): void;
  /** Told which process of the server has answered. */
  meet(process: number): void;
  /** Sends the settings that all goes by from then on. Only where it is our own. */
  settle(text: string): void;
  ask(statement: Statement): Promise<QueryResult>;
  /** Sends fixed text without values. What was sent before it need not have been answered: the server takes them in order. */
  send(text: string): Promise<pg.QueryResult>;
  /** Gives up all prepared statements: what they were prepared for is no more, or there are too many. */
  forgetStatements(): void;
  /** Whether there are so many that it is time to. */
  readonly isFull: boolean;
}

/** Statements that a connection keeps track of. Filters of clients can make any number of texts. */
const STATEMENTS = 500;

/** As much of a connection's stream as is used past the driver. */
interface Stream {
  cork(): void;
  uncork(): void;
  destroy(error: Error): void;
}

/** The driver's client, with what its types leave out. */
type DriverClient = pg.PoolClient & {
  readonly processID?: number | null;
  /** Statements that it has prepared, name → text. */
  readonly connection?: { readonly parsedStatements?: Record<string, string>; readonly stream?: Stream };
};

/** How a connection is. */
export interface ConnectionOptions extends Pick<Connection, 'place'> {
  /** Whether statements are prepared under names; a pooler that changes connections between transactions may not know them. */
  named(): boolean;
}

/** Makes a connection of an open client. */
export function createConnection(client: DriverClient, { named, place }: ConnectionOptions): Connection {
  const statements = createNames(named);
  let isSet = false;
  let met: number | undefined;
  const described: Described = new Map();
  const silence = createIdleTimeout(() => client.connection?.stream?.destroy(new Error('the server does not answer')));
  const bundle = createBundling(() => client.connection?.stream);
  // A pooler answers for itself when we connect, and hands on what we ask.
  const isOwn = (): boolean => met !== undefined && met === client.processID;
  function query(sql: string, parameters: Statement['parameters'] = [], name?: string): Promise<pg.QueryResult> {
    bundle();
    return silence.watch(askClient(client, { sql, parameters, name }, isOwn() ? described : undefined));
  }

  return {
    place,
    get isOwn() {
      return isOwn();
    },
    get isSet() {
      return isSet;
    },
    allowSilence: silence.allow,
    meet(process) {
      met = process;
    },
    settle(text) {
      isSet = true;
      query(text).catch(() => undefined);
    },
    async ask({ sql, parameters }) {
      const name = statements.nameOf(sql);
      const asked = query(sql, parameters, name);
      const result = await (name === undefined ? asked : asked.catch(throwPrepared));
      return { rows: result.rows as Record<string, unknown>[], changes: result.rowCount ?? 0 };
    },
    send: (text) => query(text),
    forgetStatements() {
      const forgotten = statements.forget();
      if (forgotten.length > 0) query('DEALLOCATE ALL').catch(() => undefined);
      // The driver would know them for as long as the connection lives, and their texts with them.
      for (const name of forgotten) delete client.connection?.parsedStatements?.[name];
      described.clear();
    },
    get isFull() {
      return statements.isFull;
    },
  };
}

/** What is sent in one turn of the event loop goes out as one message: each for itself would cost as much as what it asks. */
function createBundling(stream: () => Stream | undefined): () => void {
  let bundled: Stream | undefined;

  function send(): void {
    bundled?.uncork();
    bundled = undefined;
  }

  return () => {
    if (bundled !== undefined) return;
    bundled = stream();
    bundled?.cork();
    // Behind all that works go on to when they are answered.
    process.nextTick(send);
  };
}

/** Names for statements. */
interface Names {
  /** Undefined for what is asked the first time: what is asked once is not worth preparing. */
  nameOf(text: string): string | undefined;
  /** Answers those that were given since it last forgot. */
  forget(): readonly string[];
  readonly isFull: boolean;
}

function createNames(named: () => boolean): Names {
  const seen = new Map<string, string | undefined>();

  return {
    nameOf(text) {
      if (!named()) return undefined;
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
      return seen.size >= STATEMENTS;
    },
  };
}

/**
 * One name for one text, in all processes: where a pooler gives us a connection on which somebody else has prepared something, a name of
 * ours is what we mean by it, or unknown. Counted names would have the server do what another had asked.
 */
function toName(text: string): string {
  return `bailiwick_${hash('sha256', text, 'base64url')}`;
}

function throwPrepared(error: unknown): never {
  throw serverCode(error) === undefined ? error : new PreparedError('a prepared statement failed', { cause: error });
}

const toText = createStatements((nth) => `$${nth}`);

/**
 * What is asked, with its values as they are sent.
 *
 * @throws Problem VALUE_INVALID where one of them cannot be
 */
export function toStatement(query: Query): Statement {
  const { sql, parameters } = toText(query);
  return { sql, parameters: parameters.map(toBound) };
}

/** Notices where somebody who is asked says nothing any more: a machine that is gone closes no connection. */
export interface IdleTimeout {
  /** From now on it is noticed after so many milliseconds; never where that is undefined. */
  allow(milliseconds: number | undefined): void;
  /** Hands on what a question comes to. */
  watch<T>(asked: Promise<T>): Promise<T>;
}

/**
 * Makes one for a connection.
 *
 * @param cutOff Ends it, so that whatever was asked fails.
 */
export function createIdleTimeout(cutOff: () => void): IdleTimeout {
  let allowed: number | undefined;
  let unanswered = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Whatever is answered shows that somebody is there. */
  function heard(): void {
    unanswered--;
    clearTimeout(timer);
    timer = unanswered === 0 ? undefined : begin();
  }

  function begin(): NodeJS.Timeout | undefined {
    return allowed === undefined ? undefined : setTimeout(cutOff, allowed);
  }

  return {
    allow(milliseconds) {
      allowed = milliseconds;
    },
    watch(asked) {
      unanswered++;
      timer ??= begin();
      asked.then(heard, heard);
      return asked;
    },
  };
}
