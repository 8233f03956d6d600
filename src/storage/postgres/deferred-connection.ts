import type { Statement } from '../contract.ts';
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
export function deferConnection({ own, lookups, reads }: DeferrableConnections, caller: string): DeferredConnection {
  const sendLookup = lookups.open();
  const ended = Promise.withResolvers<ConnectionUse>();
  let taken: Promise<Connection> | undefined;
  let known: Connection | undefined;
  let lent: Promise<unknown> = Promise.resolve();

  function take(): Promise<Connection> {
    taken ??= new Promise((resolve, reject) => {
      const use = (connection: Connection): Promise<ConnectionUse> => {
        known = connection;
        resolve(connection);
        return ended.promise;
      };
      lent = own.lend(use, { needsSettings: true }).catch(reject);
    });
    return taken;
  }

  const queryOwn = (statement: Statement): Promise<QueryResult> => take().then((connection) => connection.query(statement));

  /** A statement after the first other one could follow a write of the same transaction. */
  const isShared = (statement: Statement): boolean =>
    taken === undefined && (statement.isLookup === true || reads.accepts(statement, caller));

  function queryShared(statement: Statement): Promise<QueryResult> {
    if (!isShared(statement)) return queryOwn(statement);
    return statement.isLookup === true
      ? sendLookup(statement)
      : reads.send(statement, caller).then((result) => result ?? queryOwn(statement));
  }

  return {
    slot: () => known?.slot() ?? 0,
    awaitTurn: (statement) => (isShared(statement) || known !== undefined ? undefined : take()),
    query: queryOwn,
    queryShared,
    send: (text) => take().then((connection) => connection.send(text)),
    setBackendProcess: (process) => known?.setBackendProcess(process),
    async release(use) {
      ended.resolve(use);
      await lent;
    },
  };
}
