/**
 * A BEGIN that fails, because somebody cancels it: what was sent together with it must not be done by itself. And what is undone as a whole:
 * a savepoint that a transaction begins with is that transaction.
 */
import { createConnection, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';

const { url, open, ask, close } = openFamily('storage_postgres_begin');

/** What is made something that no server understands the next time: it fails, as one that is cancelled does, before it has done anything. */
let fails: 'BEGIN' | 'ROLLBACK' | undefined;
/** All that was said to the server. */
let said = '';
let listener: Server;
let first: Database;
beforeAll(async () => {
  first = await open();
  listener = createServer((client) => {
    const server = createConnection({ host: url.hostname, port: Number(url.port) });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    server.pipe(client);
    client.on('data', (data) => {
      said += data.toString('latin1');
      const at = fails === undefined ? -1 : data.indexOf(fails);
      if (at >= 0) {
        data.write('NEVER', at);
        fails = undefined;
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
beforeEach(() => ask(FAMILY));

const insert = (id: string) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`;
const works: readonly (readonly [what: string, work: (tx: Transaction) => Promise<unknown>])[] = [
  ['writes', (tx) => tx.run(insert('a'))],
  ['writes in a savepoint', (tx) => tx.savepoint(() => tx.run(insert('a')))],
  ['looks, and then writes', (tx) => tx.one(sql`SELECT 1`).then(() => tx.run(insert('a')))],
  [
    'appends',
    (tx) => tx.append({ write: (_, ids: readonly string[]) => ids.map(insert), find: () => sql`SELECT 1 WHERE FALSE` }, ['a', 'b']),
  ],
];

/** By way of the proxy, and with two rows. */
async function openSettled(options: { readonly preparedStatements?: boolean } = {}): Promise<Database> {
  const place = new URL(url);
  place.host = `127.0.0.1:${(listener.address() as { port: number }).port}`;
  const database = await openPostgres({ url: place.href, connections: 1, ...options });
  // Twice: from then on the connections have their settings.
  for (const id of ['x', 'y']) {
    await database.transaction((tx) => tx.run(insert(id)));
    await database.transaction((tx) => tx.append({ write: () => [sql`SELECT 1`], find: () => sql`SELECT 1 WHERE FALSE` }, [id]));
  }
  return database;
}

describe.each([
  ['a connection of its own', {}],
  ['one that a pooler may have given to others', { preparedStatements: false }],
] as const)('of a BEGIN that fails on %s', (_, options) => {
  it.each(works)('a work that %s leaves nothing, and others go on', async (__, work) => {
    const database = await openSettled(options);
    fails = 'BEGIN';
    expect(await failure(database.transaction(work))).toMatchObject({ code: 'INTERNAL' });
    expect((await ask(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows).toEqual([{ id: 'x' }, { id: 'y' }]);
    await database.transaction((tx) => tx.run(insert('z')));
    await database.close();
  });
});

describe('a savepoint that a transaction begins with', () => {
  let database: Database;
  beforeEach(async () => {
    database = await openSettled();
    said = '';
  });
  afterEach(() => database.close());

  const ids = async (): Promise<unknown> => (await ask(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows.map(({ id }) => id);
  const undone = (tx: Transaction, id: string): Promise<unknown> =>
    tx.savepoint(() => tx.run(insert(id)).then(() => Promise.reject(new Error('undone')))).catch(() => undefined);

  it('is that transaction: nobody is told of it', async () => {
    await database.transaction((tx) => tx.savepoint(() => tx.savepoint(() => tx.run(insert('a')))));
    expect(await ids()).toEqual(['a', 'x', 'y']);
    expect(said).not.toContain('SAVEPOINT');
  });

  it('is undone with what is in it, and what comes behind it is not', async () => {
    await database.transaction(async (tx) => {
      await undone(tx, 'a');
      await tx.savepoint(async () => {
        await tx.savepoint(() => tx.run(insert('b')));
        await undone(tx, 'c');
        await tx.run(insert('d'));
      });
      await undone(tx, 'e');
      await tx.run(insert('f'));
    });
    expect(await ids()).toEqual(['b', 'd', 'f', 'x', 'y']);
  });

  it('is undone with those in it that were kept', async () => {
    await database.transaction(async (tx) => {
      await tx
        .savepoint(async () => {
          await tx.savepoint(() => tx.run(insert('a')));
          await tx.savepoint(() => tx.run(insert('b')));
          throw new Error('undone');
        })
        .catch(() => undefined);
      await tx.savepoint(() => tx.run(insert('c')));
    });
    expect(await ids()).toEqual(['c', 'x', 'y']);
  });

  it('is open still where one in it was undone, and is undone in its turn', async () => {
    await database.transaction(async (tx) => {
      await tx
        .savepoint(async () => {
          await undone(tx, 'a');
          await tx.run(insert('b'));
          throw new Error('undone');
        })
        .catch(() => undefined);
      await tx.run(insert('c'));
    });
    expect(await ids()).toEqual(['c', 'x', 'y']);
    expect(said).not.toContain('SAVEPOINT');
  });

  it('is undone after a statement that failed, and what is appended is kept', async () => {
    const append = { write: () => [insert('z')], find: () => sql`SELECT 1 WHERE FALSE` };
    await database.transaction(async (tx) => {
      const taken = tx.savepoint(() => tx.run(insert('a')).then(() => tx.run(insert('x'))));
      expect(await failure(taken)).toMatchObject({ constraint: 'unique' });
      await tx.append(append, ['z']);
    });
    expect(await ids()).toEqual(['x', 'y', 'z']);
  });

  it('holds nothing any more once it is undone', async () => {
    await database.transaction(async (tx) => {
      await tx.savepoint(() => tx.lock('a name').then(() => Promise.reject(new Error('undone')))).catch(() => undefined);
      await first.transaction((beside) => beside.lock('a name'));
    });
  });

  it('leaves a connection to others that is no longer in it, even where it could not be undone', async () => {
    fails = 'ROLLBACK';
    await database.transaction((tx) => undone(tx, 'a'));
    await database.transaction((tx) => tx.one(sql`SELECT 1 AS "one"`));
    await database.transaction((tx) => tx.run(insert('z')));
    expect(await ids()).toEqual(['x', 'y', 'z']);
  });
});
