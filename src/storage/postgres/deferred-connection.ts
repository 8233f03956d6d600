import type { Problem } from '../../errors.ts';
import type { Statement } from '../contract.ts';
import { internal } from '../savepoints.ts';
import type { AttemptConnection, Connection, QueryResult } from './connection.ts';
import type { ConnectionUse, Pool } from './pool.ts';
import type { SharedLookups } from './shared-lookups.ts';
import type { SharedReads } from './shared-reads.ts';

/** A connection that is taken from its pool with the first statement that is not shared. Most reads by id never take it. */
export interface DeferredConnection extends AttemptConnection {
  /** Returns the connection to the pool, if it was taken. */
  release(use: ConnectionUse): Promise<void>;
}

/** The connections of a unit of work: its own, and those that it shares with others. */
export interface DeferrableConnections {
  readonly own: Pool;
  readonly lookups: SharedLookups;
  readonly reads: SharedReads;
}

/** Creates a deferred connection. Until it is taken, lookups and short reads are sent together with those of other units of work. */
export function deferConnection(connections: DeferrableConnections, caller: string): DeferredConnection {
  return new Deferred(connections, caller);
}

/** A class and not closures, because every request creates one. */
class Deferred implements DeferredConnection {
  readonly #connections: DeferrableConnections;
  readonly #caller: string;
  readonly #ended = Promise.withResolvers<ConnectionUse>();
  #sendLookup: ReturnType<SharedLookups['open']> | undefined = undefined;
  #taken: Promise<Connection> | undefined = undefined;
  #known: Connection | undefined = undefined;
  #lent: Promise<unknown> | undefined = undefined;
  #isReleased = false;
  /** Resolves when a shared read and all statements behind it are answered; undefined if none is on its way. */
  #last: Promise<void> | undefined = undefined;

  constructor(connections: DeferrableConnections, caller: string) {
    this.#connections = connections;
    this.#caller = caller;
  }

  slot(): number {
    return this.#known?.slot() ?? 0;
  }

  setBackendProcess(process: number): void {
    this.#known?.setBackendProcess(process);
  }

  query(statement: Statement, onSent?: () => void): Promise<QueryResult> {
    return this.#inOrder(() => this.#queryOwn(statement, onSent));
  }

  queryShared(statement: Statement, onSent: () => void): Promise<QueryResult> {
    return this.#inOrder(() => this.#route(statement, onSent));
  }

  send(text: string, onSent?: () => void): ReturnType<Connection['send']> {
    return this.#inOrder(() =>
      this.#take().then((connection) => {
        onSent?.();
        return connection.send(text);
      }),
    );
  }

  async release(use: ConnectionUse): Promise<void> {
    this.#isReleased = true;
    this.#ended.resolve(use);
    await this.#lent;
  }

  /** Chooses the connection of a statement, and sends it. */
  #route(statement: Statement, onSent: () => void): Promise<QueryResult> {
    if (this.#isReleased) return Promise.reject(ended());
    // Once a connection is taken, the transaction may have written there.
    if (this.#taken !== undefined) return this.#queryOwn(statement, onSent);
    if (statement.isLookup === true) {
      this.#sendLookup ??= this.#connections.lookups.open();
      return this.#sendLookup(statement);
    }
    const { reads } = this.#connections;
    if (!reads.accepts(statement, this.#caller)) return this.#queryOwn(statement, onSent);
    const answer = reads.send(statement, this.#caller).then((result) => result ?? this.#queryOwn(statement, onSent));
    // If this statement itself waited behind another, `#inOrder` holds those behind it.
    return this.#last === undefined ? this.#hold(answer) : answer;
  }

  #queryOwn(statement: Statement, onSent?: () => void): Promise<QueryResult> {
    return this.#take().then((connection) => {
      onSent?.();
      return connection.query(statement);
    });
  }

  /** Sends a statement when those before it are answered, if one of them is a shared read: on another connection, it could be executed before them. */
  #inOrder<T>(send: () => Promise<T>): Promise<T> {
    return this.#last === undefined ? send() : this.#hold(this.#last.then(send));
  }

  /** Lets the statements that follow wait for this answer. */
  #hold<T>(answer: Promise<T>): Promise<T> {
    const settled: Promise<void> = answer.then(ignore, ignore).then(() => {
      if (this.#last === settled) this.#last = undefined;
    });
    this.#last = settled;
    return answer;
  }

  #take(): Promise<Connection> {
    if (this.#isReleased) return Promise.reject(ended());
    this.#taken ??= new Promise((resolve, reject) => {
      const use = (connection: Connection): Promise<ConnectionUse> => {
        this.#known = connection;
        resolve(connection);
        return this.#ended.promise;
      };
      this.#lent = this.#connections.own.lend(use, { needsSettings: true }).catch(reject);
    });
    return this.#taken;
  }
}

function ended(): Problem {
  return internal('a statement was sent after the end of its unit of work');
}

function ignore(): void {
  // The sender handles the error.
}
