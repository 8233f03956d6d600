import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { findPort } from '../../test/postgres/server.ts';
import { numbersTo, openFilling } from '../fill.ts';
import { startServer, stopServer } from '../process.ts';
import { openStore } from './ceiling-store.ts';
import {
  BODY_SQL,
  type CaseCall,
  type CaseName,
  type HttpContestant,
  newArticle,
  ownerSql,
  ownNumber,
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
    openStore(path).close();
    await fill(path, world);
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
          args: ['--max-semi-space-size=16', fileURLToPath(new URL('ceiling-server.ts', import.meta.url)), String(port), path],
          env: { BENCH_SECRET: secret },
          probe: `${url}/healthz`,
        });
        return { url, child, stop: () => stopServer(child) };
      },
    };
  },
};

const CALLER = '018f4e6a-1c2b-7d3e-8f40-000000000001';
const ID = '018f4e6a-1c2b-7d3e-8f40-';

async function fill(path: string, world: World): Promise<void> {
  const filling = await openFilling(`sqlite:${path}`);
  const at = `'2025-01-01T00:00:00.000Z'`;
  await filling.exec(`INSERT INTO user VALUES ('${CALLER}', 'user', 1), ('other user', 'user', 1);
    INSERT INTO session VALUES ('s1', '${CALLER}', NULL);
    INSERT INTO article ${numbersTo(world.records)} SELECT '${ID}' || substr(CAST(100000000000 + i AS TEXT), 1, 12), 1, ${at}, ${at}, 'bench',
      'Article ' || i, 'article-' || i, ${BODY_SQL}, ${statusSql(world)}, ${ownerSql(world, CALLER, 'other user')}, ${publishedSql(world)} FROM n`);
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
    total: { ...get('/articles/total'), read: (body) => ({ authors: [], total: (body as { total: number }).total }) },
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
