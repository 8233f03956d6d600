/** A BEGIN that fails, because somebody cancels it: what was sent together with it must not be done by itself. */
import { createConnection, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql/index.ts';
import type { Database, Transaction } from '../database.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';

const { url, open, ask, close } = openFamily('storage_postgres_begin');

/** Whether the next BEGIN is made one that no server understands: it fails, as one that is cancelled does, before it has begun anything. */
let fails = false;
let listener: Server;
let first: Database;
beforeAll(async () => {
  first = await open();
  listener = createServer((client) => {
    const server = createConnection({ host: url.hostname, port: Number(url.port) });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    server.pipe(client);
    client.on('data', (data) => {
      const at = fails ? data.indexOf('BEGIN') : -1;
      if (at >= 0) {
        data.write('BEGUN', at);
        fails = false;
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

describe.each([
  ['a connection of its own', {}],
  ['one that a pooler may have given to others', { preparedStatements: false }],
] as const)('of a BEGIN that fails on %s', (_, options) => {
  it.each(works)('a work that %s leaves nothing, and others go on', async (__, work) => {
    const place = new URL(url);
    place.host = `127.0.0.1:${(listener.address() as { port: number }).port}`;
    const database = await openPostgres({ url: place.href, connections: 1, ...options });
    // Twice: from then on the connections have their settings.
    for (const id of ['x', 'y']) {
      await database.transaction((tx) => tx.run(insert(id)));
      await database.transaction((tx) => tx.append({ write: () => [sql`SELECT 1`], find: () => sql`SELECT 1 WHERE FALSE` }, [id]));
    }
    fails = true;
    expect(await failure(database.transaction(work))).toMatchObject({ code: 'INTERNAL' });
    expect((await ask(`SELECT "id" FROM "Parent" ORDER BY "id"`)).rows).toEqual([{ id: 'x' }, { id: 'y' }]);
    await database.transaction((tx) => tx.run(insert('z')));
    await database.close();
  });
});
