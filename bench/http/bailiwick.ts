import { join } from 'node:path';
import { withSchema } from '../../test/postgres/test-database.ts';
import { numbersTo, openFilling } from '../fill.ts';
import { prepareCaller, type ServiceSource, startService } from '../service.ts';
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
  statusSql,
  type World,
} from './contestant.ts';

/** Bailiwick on a SQLite file, as `npm start` starts it. */
export const bailiwick: HttpContestant = {
  name: 'bailiwick',
  usesPostgres: false,
  prepare: (world) => prepareOn(world, `sqlite:${join(world.folder, 'bailiwick.db')}`),
};

/** Returns Bailiwick on a SQLite file with several worker processes. */
export function bailiwickWithWorkers(workers: number): HttpContestant {
  return {
    name: `${workers} workers`,
    usesPostgres: false,
    prepare: (world) => prepareOn(world, `sqlite:${join(world.folder, 'bailiwick.db')}`, { args: ['--workers', String(workers)] }),
  };
}

/** Returns Bailiwick on a SQLite file, run by the program of another checkout. */
export function bailiwickOf(checkout: string, name: string): HttpContestant {
  return {
    name,
    usesPostgres: false,
    prepare: (world) => prepareOn(world, `sqlite:${join(world.folder, 'bailiwick.db')}`, { main: join(checkout, 'bin/bailiwick.js') }),
  };
}

/** Returns Bailiwick on PostgreSQL, run by the program of another checkout. */
export function bailiwickOnPostgresOf(checkout: string, name: string): HttpContestant {
  return {
    name: `${name} on PostgreSQL`,
    usesPostgres: true,
    prepare: (world) => prepareOn(world, withSchema(world.postgres), { main: join(checkout, 'bin/bailiwick.js') }),
  };
}

/** Bailiwick on PostgreSQL, to compare with contestants that need PostgreSQL. */
export const bailiwickOnPostgres: HttpContestant = {
  name: 'bailiwick on PostgreSQL',
  usesPostgres: true,
  prepare: (world) => prepareOn(world, withSchema(world.postgres)),
};

const ID = '018f4e6a-1c2b-7d3e-8f40-';

async function prepareOn(world: World, database: string, source: ServiceSource = {}): Promise<PreparedContestant> {
  const first = await startService(world.folder, database, source);
  const { caller, token } = await prepareCaller(first.url, ['read', 'list', 'create', 'update']);
  await first.stop();
  await fillArticles(database, world, caller);
  return {
    caller,
    calls: callsOf(world, caller, token),
    foreign: { headers: headersOf(token), toRequest: () => ({ method: 'GET', path: `/api/Article/${idFor(1)}` }) },
    async start() {
      const { url, child, stop } = await startService(world.folder, database, source);
      return { url, child, stop: async () => void (await stop()) };
    },
  };
}

/** Inserts articles of the caller and of the admin. */
export async function fillArticles(database: string, world: World, caller: string): Promise<void> {
  const filling = await openFilling(database);
  const owner = ownerSql(world, caller, '').replace(`''`, `(SELECT min("id") FROM "User")`);
  await filling.exec(`INSERT INTO "Article" ("id", "version", "createdAt", "updatedAt", "createdBy", "title", "slug", "body", "status", "authorId", "publishedAt")
    ${numbersTo(world.records)} SELECT '${ID}' || substr(CAST(100000000000 + i AS TEXT), 1, 12), 1, '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', 'bench',
      'Article ' || i, 'article-' || i, ${BODY_SQL}, ${statusSql(world)}, ${owner}, ${publishedSql(world)} FROM n`);
  // No contestant has statistics on SQLite, because none of the programs creates them.
  if (filling.isServer) await filling.exec('ANALYZE');
  await filling.close();
}

/** Reads the caller's articles in turn. */
export function readOwn(world: World, token: string): CaseCall {
  return {
    headers: headersOf(token),
    toRequest: (turn) => ({ method: 'GET', path: `/api/Article/${idFor(ownNumber(world, turn))}` }),
    read: readData,
  };
}

/** Returns the requests of all cases. */
export function callsOf(world: World, authorId: string, token: string): Record<CaseName, CaseCall> {
  const headers = headersOf(token);
  const get = (path: string): CaseCall => ({ headers, toRequest: () => ({ method: 'GET', path }), read: readData });
  const data = (turn: number | string) => ({ ...newArticle(turn), authorId });
  const ownId = (turn: number): string => idFor(ownNumber(world, turn));
  return {
    'read by id': readOwn(world, token),
    'list of 20': get('/api/Article?limit=20'),
    'list of 20, filter and sort': get('/api/Article?where[status]=published&sort=-publishedAt&limit=20'),
    total: { ...get('/api/Article?limit=0&total=true'), read: (body) => ({ authors: [], total: (body as { total: number }).total }) },
    create: { headers, toRequest: (turn) => ({ method: 'POST', path: '/api/Article', body: data(turn) }), read: readData },
    update: {
      headers,
      toRequest: (turn) => ({ method: 'PUT', path: `/api/Article/${ownId(turn)}`, body: { title: `Changed ${turn}` } }),
      read: readData,
    },
    'batch of 50': {
      headers,
      toRequest(turn) {
        const requests = Array.from({ length: 50 }, (_, nth) => ({ resource: 'Article', action: 'create', data: data(`${turn}-${nth}`) }));
        return { method: 'POST', path: '/api/batch', body: { requests } };
      },
      read: (body) => ({ authors: (body as { data: readonly unknown[] }).data.flatMap((item) => readData(item).authors) }),
    },
  };
}

function readData(body: unknown): { readonly authors: readonly string[] } {
  const { data } = body as { readonly data: unknown };
  return { authors: [data].flat().map((record) => (record as { authorId: string }).authorId) };
}

function headersOf(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

function idFor(number: number): string {
  return `${ID}${100_000_000_000 + number}`;
}
