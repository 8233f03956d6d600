import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { findPort } from '../../test/postgres/server.ts';
import { createServerDatabase, numbersTo, openFilling } from '../fill.ts';
import { NODE_OPTIONS, startServer, stopServer } from '../process.ts';
import { POSTGRES_TABLES } from './ceiling-postgres.ts';
import { openFile } from './ceiling-sqlite.ts';
import {
  BODY_SQL,
  type CaseCall,
  type CaseName,
  type HttpContestant,
  newArticle,
  ownerSql,
  ownNumber,
  type PreparedContestant,
  publishedSql,
  type Returned,
  statusSql,
  type World,
} from './contestant.ts';

/** The upper limit: a server written by hand for this one resource and this one rule. */
export const ceiling: HttpContestant = {
  name: 'by hand',
  usesPostgres: false,
  async prepare(world) {
    const path = join(world.folder, 'ceiling.db');
    openFile(path).close();
    await fill(`sqlite:${path}`, world);
    return prepareOn(world, path);
  },
};

/** The upper limit on PostgreSQL. */
export const ceilingOnPostgres: HttpContestant = {
  name: 'by hand on PostgreSQL',
  usesPostgres: true,
  async prepare(world) {
    const database = await createServerDatabase(world.postgres, 'ceiling');
    await fill(database, world);
    return prepareOn(world, database);
  },
};

async function prepareOn(world: World, database: string): Promise<PreparedContestant> {
  const secret = randomBytes(32).toString('hex');
  const token = await new SignJWT({ sid: 's1' })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(CALLER)
    .setExpirationTime('1d')
    .sign(new TextEncoder().encode(secret));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    caller: CALLER,
    calls: callsOf(world, headers),
    foreign: { headers, toRequest: () => ({ method: 'GET', path: `/articles/${idFor(1)}` }) },
    async start() {
      const port = await findPort();
      const url = `http://127.0.0.1:${port}`;
      const child = await startServer({
        command: process.execPath,
        args: [...NODE_OPTIONS, fileURLToPath(new URL('ceiling-server.ts', import.meta.url)), String(port), database],
        env: { BENCH_SECRET: secret },
        probe: `${url}/healthz`,
      });
      return { url, child, stop: () => stopServer(child) };
    },
  };
}

const CALLER = '018f4e6a-1c2b-7d3e-8f40-000000000001';
const ID = '018f4e6a-1c2b-7d3e-8f40-';

async function fill(database: string, world: World): Promise<void> {
  const filling = await openFilling(database);
  const at = `'2025-01-01T00:00:00.000Z'`;
  const { isServer } = filling;
  if (isServer) await filling.exec(`${POSTGRES_TABLES}; INSERT INTO state VALUES ('epoch', 'first')`);
  const [users, isTrue] = isServer ? ['users', 'true'] : ['user', '1'];
  await filling.exec(`INSERT INTO ${users} VALUES ('${CALLER}', 'user', ${isTrue}), ('other user', 'user', ${isTrue});
    INSERT INTO session VALUES ('s1', '${CALLER}', NULL);
    INSERT INTO article ${numbersTo(world.records)} SELECT '${ID}' || substr(CAST(100000000000 + i AS TEXT), 1, 12), 1, ${at}, ${at}, 'bench',
      'Article ' || i, 'article-' || i, ${BODY_SQL}, ${statusSql(world)}, ${ownerSql(world, CALLER, 'other user')}, ${publishedSql(world)} FROM n`);
  if (isServer) await filling.exec('ANALYZE');
  await filling.close();
}

function callsOf(world: World, headers: Readonly<Record<string, string>>): Record<CaseName, CaseCall> {
  const get = (path: string): CaseCall => ({ headers, toRequest: () => ({ method: 'GET', path }), read });
  const ownId = (turn: number): string => idFor(ownNumber(world, turn));
  const data = (turn: number | string) => ({ ...newArticle(turn), authorId: CALLER });
  return {
    'read by id': { headers, toRequest: (turn) => ({ method: 'GET', path: `/articles/${ownId(turn)}` }), read },
    'list of 20': get('/articles?limit=20'),
    'list of 20, filter and sort': get('/articles?status=published&sort=-publishedAt&limit=20'),
    total: { ...get('/articles/total'), read: (body) => ({ authors: [], total: (body as { data: number }).data }) },
    create: { headers, toRequest: (turn) => ({ method: 'POST', path: '/articles', body: data(turn) }), read },
    update: {
      headers,
      toRequest: (turn) => ({ method: 'PUT', path: `/articles/${ownId(turn)}`, body: { title: `Changed ${turn}` } }),
      read,
    },
    'batch of 50': {
      headers,
      toRequest: (turn) => ({
        method: 'POST',
        path: '/articles/batch',
        body: { articles: Array.from({ length: 50 }, (_, nth) => data(`${turn}-${nth}`)) },
      }),
      read,
    },
  };
}

function read(body: unknown): Returned {
  return { authors: [(body as { data: unknown }).data].flat().map((record) => (record as { authorId: string }).authorId) };
}

function idFor(number: number): string {
  return `${ID}${100_000_000_000 + number}`;
}
