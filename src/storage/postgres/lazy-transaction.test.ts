/**
 * Statements that are sent together with BEGIN must not run if BEGIN fails, for example because it is cancelled, and a COMMIT that fails must leave
 * no open transaction. A savepoint around the first write is implemented by the transaction itself, without SAVEPOINT.
 */
import { createConnection, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres, type PostgresOptions } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';

const { url, open, runSql, close } = openFamily('storage_postgres_lazy');

/** The text that the proxy replaces the next time, or after it has come some times. */
let replaced: { readonly text: string; readonly by: string; after?: number } | undefined;
/** Corrupts a command, so that it fails before it does anything, like a cancelled command. */
const fail = (text: 'BEGIN' | 'COMMIT' | 'ROLLBACK'): unknown =>
  // The text of BEGIN contains READ COMMITTED, so the search for COMMIT includes the NUL at its end.
  (replaced = { text: text === 'COMMIT' ? `${text}\0` : text, by: 'NEVER' });
/** The statement that the server gets instead of the next COMMIT. */
let insteadOfCommit: string | undefined;
const COMMIT = toMessage('COMMIT');
/** All bytes that clients sent to the server. */
let sent = '';
let listener: Server;
let first: Database;
beforeAll(async () => {
  first = await open();
  listener = createServer((client) => {
    const server = createConnection({ host: url.hostname, port: Number(url.port) });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    server.pipe(client);
    client.on('data', (data) => {
      sent += data.toString('latin1');
      const commitAt = insteadOfCommit === undefined ? -1 : data.indexOf(COMMIT);
      if (insteadOfCommit !== undefined && commitAt >= 0) {
        const [before, after] = [data.subarray(0, commitAt), data.subarray(commitAt + COMMIT.length)];
        server.write(Buffer.concat([before, toMessage(insteadOfCommit), after]));
        insteadOfCommit = undefined;
        return;
      }
      const at = replaced === undefined ? -1 : data.indexOf(replaced.text);
      if (replaced?.after && at >= 0) replaced.after--;
      else if (replaced !== undefined && at >= 0) {
        data.write(replaced.by, at);
        replaced = undefined;
      }
      server.write(data);
    });
    client.on('close', () => server.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  listener.close();
  await close(first);
});
beforeEach(() => runSql(FAMILY));

/** Returns the message of a simple query: its type, its length and its text. */
function toMessage(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + text.length + 1);
  return Buffer.concat([Buffer.from('Q'), length, Buffer.from(`${text}\0`)]);
}

const insert = (id: string) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`;
const unitsOfWork: readonly (readonly [what: string, work: (tx: Transaction) => Promise<unknown>])[] = [
  ['writes', (tx) => tx.run(insert('a'))],
  ['writes in a savepoint', (tx) => tx.savepoint(() => tx.run(insert('a')))],
  ['reads and then writes', (tx) => tx.one(sql`SELECT 1`).then(() => tx.run(insert('a')))],
  [
    'appends',
    async (tx) =>
      tx.append({ write: (_, ids: readonly string[]) => ids.map(insert), findCommitted: () => sql`SELECT 1 WHERE FALSE` }, ['a', 'b']),
  ],
];

/** Opens a database through the proxy, with two rows and configured connections. */
async function openConfigured(options: Pick<PostgresOptions, 'preparedStatements' | 'shortAttempt'> = {}): Promise<Database> {
  const proxyUrl = new URL(url);
  proxyUrl.host = `127.0.0.1:${(listener.address() as { port: number }).port}`;
  const database = await openPostgres({ url: proxyUrl.href, connections: 1, isContended: () => false, ...options });
  // After two transactions each connection has its session settings.
  for (const id of ['x', 'y']) {
    await database.transaction((tx) => tx.run(insert(id)));
    await database.transaction(async (tx) =>
      tx.append({ write: () => [sql`SELECT 1`], findCommitted: () => sql`SELECT 1 WHERE FALSE` }, [id]),
    );
  }
  return database;
}

describe.each([
  ['BEGIN', 'a direct connection', {}],
  ['BEGIN', 'a connection that a pooler may share', { preparedStatements: false }],
  // A COMMIT that fails before it does anything leaves the transaction open.
  ['COMMIT', 'a direct connection', {}],
  ['COMMIT', 'a connection that a pooler may share', { preparedStatements: false }],
] as const)('a %s that fails on %s', (command, connection, options) => {
  it.each(unitsOfWork)(
    `a unit of work that %s changes nothing after a ${command} that fails on ${connection}, and later ones succeed`,
    async (_, work) => {
      const database = await openConfigured(options);
      fail(command);
      expect(await failure(database.transaction(work))).toMatchObject({ code: 'INTERNAL' });
      expect((await runSql(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows).toEqual([{ id: 'x' }, { id: 'y' }]);
      await database.transaction((tx) => tx.run(insert('z')));
      await database.close();
    },
  );
});

describe('a server that stalls', () => {
  const ID = 'pg_current_xact_id()::text';
  const TIMEOUT = `SELECT set_config('statement_timeout', $1, true)`;
  it.each([
    ['begins to write', {}, ID, 'pg_sleep(9)::text'],
    ['begins to write after a read', { preparedStatements: false }, ID, 'pg_sleep(9)::text'],
    ['writes after a search', {}, TIMEOUT, 'SELECT pg_sleep(9), $1::text'],
  ])('a short attempt that %s is followed by a long one if the server cancels its message', async (_, options, text, by) => {
    const database = await openConfigured({ ...options, shortAttempt: 200 });
    const attempts: string[] = [];
    await database.transaction(async (tx) => {
      attempts.push(tx.attempt);
      // The first message with this text sets the timeout of the search, the second that of the write.
      if (tx.attempt === 'short') replaced = { text, by: by.padEnd(text.length), after: text === TIMEOUT ? 1 : 0 };
      await tx.one(sql`SELECT 1`);
      if (text === TIMEOUT) {
        await tx.run(sql`UPDATE "Parent" SET "n" = 1`);
        await tx.one(sql`SELECT 1 WHERE ${tx.dialect.deadlineCheck(sql.table('Parent'))}`);
      }
      await tx.run(insert('a'));
    });
    expect(replaced).toBeUndefined();
    expect(attempts).toEqual(['short', 'long']);
    expect((await runSql(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows).toEqual([{ id: 'a' }, { id: 'x' }, { id: 'y' }]);
    await database.close();
  });
});

describe('a server that cancels COMMIT', () => {
  const append = (tx: Transaction): void =>
    tx.append({ write: () => [insert('a')], findCommitted: () => sql`SELECT 1 WHERE FALSE` }, ['a']);
  it.each([
    ['whose entries others commit', append, ['a', 'x', 'y']],
    ['without entries', () => undefined, ['x', 'y']],
  ])('a transaction that only reads, %s, ends by ROLLBACK, and does not fail', async (_, work, ids) => {
    const database = await openConfigured({ preparedStatements: false, shortAttempt: 200 });
    insteadOfCommit = 'SELECT pg_sleep(9)';
    let runs = 0;
    await database.transaction(async (tx) => {
      runs++;
      await tx.one(sql`SELECT 1`);
      work(tx);
    });
    expect([insteadOfCommit, runs]).toEqual([undefined, 1]);
    expect((await runSql(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows.map(({ id }) => id)).toEqual(ids);
    await database.transaction((tx) => tx.run(insert('z')));
    await database.close();
  });
});

it('a wait for a connection does not advance the clock', async () => {
  const database = await openConfigured();
  const holding = Promise.withResolvers<void>();
  const hold = database.transaction(async (tx) => {
    await tx.run(insert('a'));
    holding.resolve();
    // Longer than an earlier reading of the clock is used.
    await tx.one(sql`SELECT pg_sleep(1.5)`);
  });
  await holding.promise;
  await Promise.all([hold, database.transaction((tx) => tx.run(insert('b')))]);
  const ahead = await database.transaction(async (tx) => tx.now - Date.now());
  expect(ahead).toBeLessThan(1000);
  await database.close();
});

describe('a commit batch', () => {
  it('does not read the clock of the server again if another batch has just done so', async () => {
    const database = await openConfigured();
    const append = (id: string) =>
      database.transaction(async (tx) => tx.append({ write: () => [sql`SELECT 1`], findCommitted: () => sql`SELECT 1 WHERE FALSE` }, [id]));
    // Each execution of a prepared statement names it once. On a slow machine, the clock may be read again after a while.
    await vi.waitFor(async () => {
      await append('a');
      sent = '';
      await append('b');
      expect(sent.match(/bailiwick_/g)).toHaveLength(1);
    });
    await database.close();
  });
});

describe('a savepoint around the first write', () => {
  let database: Database;
  beforeEach(async () => {
    database = await openConfigured();
    sent = '';
  });
  afterEach(() => database.close());

  const ids = async (): Promise<unknown> => (await runSql(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows.map(({ id }) => id);
  const rolledBack = (tx: Transaction, id: string): Promise<unknown> =>
    tx.savepoint(() => tx.run(insert(id)).then(() => Promise.reject(new Error('rolled back')))).catch(() => undefined);

  it('sends no SAVEPOINT around the first write', async () => {
    await database.transaction((tx) => tx.savepoint(() => tx.savepoint(() => tx.run(insert('a')))));
    expect(await ids()).toEqual(['a', 'x', 'y']);
    expect(sent).not.toContain('SAVEPOINT');
  });

  it('rolls back a savepoint around the first write with its contents; later writes stay', async () => {
    await database.transaction(async (tx) => {
      await rolledBack(tx, 'a');
      await tx.savepoint(async () => {
        await tx.savepoint(() => tx.run(insert('b')));
        await rolledBack(tx, 'c');
        await tx.run(insert('d'));
      });
      await rolledBack(tx, 'e');
      await tx.run(insert('f'));
    });
    expect(await ids()).toEqual(['b', 'd', 'f', 'x', 'y']);
  });

  it('rolls back a savepoint with the savepoints that were released in it', async () => {
    await database.transaction(async (tx) => {
      await tx
        .savepoint(async () => {
          await tx.savepoint(() => tx.run(insert('a')));
          await tx.savepoint(() => tx.run(insert('b')));
          throw new Error('rolled back');
        })
        .catch(() => undefined);
      await tx.savepoint(() => tx.run(insert('c')));
    });
    expect(await ids()).toEqual(['c', 'x', 'y']);
  });

  it('a savepoint stays open after an inner savepoint is rolled back, and can be rolled back too', async () => {
    await database.transaction(async (tx) => {
      await tx
        .savepoint(async () => {
          await rolledBack(tx, 'a');
          await tx.run(insert('b'));
          throw new Error('rolled back');
        })
        .catch(() => undefined);
      await tx.run(insert('c'));
    });
    expect(await ids()).toEqual(['c', 'x', 'y']);
    expect(sent).not.toContain('SAVEPOINT');
  });

  it('rolls back a savepoint after a failed statement, and saves entries that are appended later', async () => {
    const append = { write: () => [insert('z')], findCommitted: () => sql`SELECT 1 WHERE FALSE` };
    await database.transaction(async (tx) => {
      const conflicting = tx.savepoint(() => tx.run(insert('a')).then(() => tx.run(insert('x'))));
      expect(await failure(conflicting)).toMatchObject({ constraint: 'unique' });
      tx.append(append, ['z']);
    });
    expect(await ids()).toEqual(['x', 'y', 'z']);
  });

  it('releases the locks of a savepoint when it is rolled back', async () => {
    await database.transaction(async (tx) => {
      await tx.savepoint(() => tx.lock('a name').then(() => Promise.reject(new Error('rolled back')))).catch(() => undefined);
      await first.transaction((other) => other.lock('a name'));
    });
  });

  it('a savepoint is not open any more on the connection of the next transaction, even if its rollback failed', async () => {
    fail('ROLLBACK');
    await database.transaction((tx) => rolledBack(tx, 'a'));
    await database.transaction((tx) => tx.one(sql`SELECT 1 AS "one"`));
    await database.transaction((tx) => tx.run(insert('z')));
    expect(await ids()).toEqual(['x', 'y', 'z']);
  });
});
