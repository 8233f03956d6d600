import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { findPort } from '../../test/postgres/server.ts';
import { createServerDatabase, numbersTo, openFilling } from '../fill.ts';
import { NODE_OPTIONS, startServer, stopServer } from '../process.ts';
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

/**
 * Parse Server on PostgreSQL. Its ownership rule is a permission by pointer field. It has no audit log, and in this version its batches
 * return 500.
 */
export const parseServer: HttpContestant = {
  name: 'Parse Server on PostgreSQL',
  usesPostgres: true,
  async prepare(world) {
    const database = await createServerDatabase(world.postgres, 'parse');
    const key = randomBytes(16).toString('hex');
    const port = await findPort();
    const url = `http://127.0.0.1:${port}`;
    const starting = {
      command: process.execPath,
      args: [...NODE_OPTIONS, fileURLToPath(new URL('parse-server-main.ts', import.meta.url)), String(port), database, key],
      cwd: world.folder,
      probe: `${url}/parse/health`,
    };
    const first = await startServer(starting);
    const asAdmin = { ...APPLICATION, 'x-parse-master-key': key };
    await post(`${url}/parse/schemas/Article`, SCHEMA, asAdmin);
    const made = await post(`${url}/parse/users`, { username: 'maya', password: randomBytes(16).toString('hex') }, APPLICATION);
    const caller = String(made['objectId']);
    await stopServer(first);
    await fill(database, world, caller);
    const headers = { ...APPLICATION, 'x-parse-session-token': String(made['sessionToken']) };
    return {
      caller,
      calls: callsOf(world, caller, headers),
      foreign: { headers, toRequest: () => ({ method: 'GET', path: `${ARTICLES}/${idFor(1)}` }) },
      async start() {
        const child = await startServer(starting);
        return { url, child, stop: () => stopServer(child) };
      },
    };
  },
};

const ARTICLES = '/parse/classes/Article';
const APPLICATION: Readonly<Record<string, string>> = { 'x-parse-application-id': 'bench', 'content-type': 'application/json' };
const OWN = { pointerFields: ['author'] };

const SCHEMA = {
  className: 'Article',
  fields: {
    title: { type: 'String', required: true },
    slug: { type: 'String', required: true },
    body: { type: 'String' },
    status: { type: 'String', defaultValue: 'draft' },
    author: { type: 'Pointer', targetClass: '_User', required: true },
    publishedAt: { type: 'Date' },
  },
  classLevelPermissions: { find: OWN, get: OWN, count: OWN, update: OWN, create: { requiresAuthentication: true } },
};

async function fill(database: string, world: World, caller: string): Promise<void> {
  const filling = await openFilling(database);
  const published = `CAST(${publishedSql(world)} AS timestamptz)`;
  await filling.exec(`INSERT INTO "Article" ("objectId", "createdAt", "updatedAt", title, slug, body, status, author, "publishedAt")
    ${numbersTo(world.records)} SELECT 'a' || CAST(100000000 + i AS TEXT), now(), now(), 'Article ' || i, 'article-' || i, ${BODY_SQL},
      ${statusSql(world)}, ${ownerSql(world, caller, 'otherUser')}, ${published} FROM n`);
  await filling.exec(`CREATE UNIQUE INDEX ON "Article" (slug);
    CREATE INDEX ON "Article" (author, "objectId");
    CREATE INDEX ON "Article" (author, status, "publishedAt", "objectId")`);
  await filling.exec('ANALYZE');
  await filling.close();
}

function callsOf(world: World, objectId: string, headers: Readonly<Record<string, string>>): Partial<Record<CaseName, CaseCall>> {
  const get = (query: string): CaseCall => ({
    headers,
    toRequest: () => ({ method: 'GET', path: `${ARTICLES}?${query}` }),
    read: readResults,
  });
  const author = { __type: 'Pointer', className: '_User', objectId };
  const ownId = (turn: number): string => idFor(ownNumber(world, turn));
  const where = encodeURIComponent('{"status":"published"}');
  // The response to a create or an update does not contain the author; the cases that read check it.
  const read = (): Returned => ({ authors: [objectId] });
  return {
    'read by id': {
      headers,
      toRequest: (turn) => ({ method: 'GET', path: `${ARTICLES}/${ownId(turn)}` }),
      read: (body) => ({ authors: [authorOf(body)] }),
    },
    'list of 20': get('limit=20&order=objectId'),
    'list of 20, filter and sort': get(`limit=20&where=${where}&order=-publishedAt`),
    total: { ...get('limit=0&count=1'), read: (body) => ({ authors: [], total: (body as { count: number }).count }) },
    create: { headers, toRequest: (turn) => ({ method: 'POST', path: ARTICLES, body: { ...newArticle(turn), author } }), read },
    update: {
      headers,
      toRequest: (turn) => ({ method: 'PUT', path: `${ARTICLES}/${ownId(turn)}`, body: { title: `Changed ${turn}` } }),
      read,
    },
  };
}

function readResults(body: unknown): Returned {
  return { authors: (body as { results: readonly unknown[] }).results.map(authorOf) };
}

function authorOf(record: unknown): string {
  return (record as { author: { objectId: string } }).author.objectId;
}

function idFor(number: number): string {
  return `a${100_000_000 + number}`;
}

async function post(address: string, body: object, headers: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`expected success of ${address}, given ${answer.status} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
