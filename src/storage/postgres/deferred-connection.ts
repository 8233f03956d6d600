import type { Statement } from '../contract.ts';
import type { AttemptConnection, Connection } from './connection.ts';
import type { ConnectionUse, Pool } from './pool.ts';
import type { SharedLookups } from './shared-lookups.ts';

/** A connection that is taken from its pool with the first statement that is not a lookup. Most reads by id never take it. */
export interface DeferredConnection extends AttemptConnection {
  /** Returns the connection to the pool, if it was taken. */
  release(use: ConnectionUse): Promise<void>;
}

/** Creates a deferred connection. Until it is taken, lookups are sent together with those of other units of work. */
export function deferConnection(pool: Pool, lookups: SharedLookups): DeferredConnection {
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
      lent = pool.lend(use, { needsSettings: true }).catch(reject);
    });
    return taken;
  }

  /** A lookup after the first other statement could follow a write of the same transaction. */
  const isShared = (statement: Statement): boolean => statement.isLookup === true && taken === undefined;

  return {
    slot: () => known?.slot() ?? 0,
    awaitTurn: (statement) => (isShared(statement) || known !== undefined ? undefined : take()),
    query: (statement) => (isShared(statement) ? sendLookup(statement) : take().then((connection) => connection.query(statement))),
    send: (text) => take().then((connection) => connection.send(text)),
    setBackendProcess: (process) => known?.setBackendProcess(process),
    async release(use) {
      ended.resolve(use);
      await lent;
    },
  };
}
