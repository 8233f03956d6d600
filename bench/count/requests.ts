import Database from 'better-sqlite3';
import pg from 'pg';
import { startService } from '../../test/harness.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import { withSchema } from '../../test/postgres/test-database.ts';
import { isMember } from '../relations/conditions.ts';
import { openLeanClient, toBytes } from './lean-client.ts';

/** Number of stored articles. */
const ARTICLES = 50;

/** A request that is sent repeatedly. */
export interface CountedRequest {
  readonly name: string;
  send(): Promise<void>;
}

/** A service in this process, and the requests to count. */
export interface CountedService {
  readonly requests: readonly CountedRequest[];
  stop(): Promise<void>;
}

const SETTINGS = { rateLimit: 0, backupsKept: 0 };

/** Starts the service on PostgreSQL, with its own server, and otherwise like `startArticles`. */
export async function startArticlesOnPostgres(): Promise<CountedService> {
  const server = await startPostgres({ inMemory: true });
  const { requests, stop } = await startArticles({ database: withSchema(server.url) });
  return {
    requests: requests.map(({ name, send }) => ({ name: `${name}, PostgreSQL`, send })),
    async stop() {
      await stop();
      await server.stop();
    },
  };
}

/** Starts the service, by default on SQLite, with a user who may read, list, create and update only their own articles. */
export async function startArticles(where: { readonly database?: string } = {}): Promise<CountedService> {
  const settings = { ...SETTINGS, ...where };
  const { url, close, user, createPolicy, createRecord } = await startService({ project: 'bench/http/project', settings });
  const { id: authorId, token } = await user();
  const conditions = [{ field: 'resource.authorId', operator: 'eq', value: '${user.id}' }];
  const rules = ['read', 'list', 'create', 'update'].map((action) => ({ resource: 'Article', action, conditions }));
  await createPolicy({ rules, role: 'user' });
  let made = 0;
  const article = () => ({ title: 'An article', slug: `slug-${++made}`, body: 'x'.repeat(200), authorId });
  const ids: string[] = [];
  for (let count = 0; count < ARTICLES; count++) ids.push(await createRecord('Article', article()));
  const next = () => ids[++made % ARTICLES] ?? '';
  const { send, stop } = await openSender({ url, token, close });
  const requests: readonly CountedRequest[] = [
    { name: 'read by id', send: () => send('GET', `/api/Article/${next()}`) },
    { name: 'list of 20', send: () => send('GET', '/api/Article?limit=20') },
    { name: 'create', send: () => send('POST', '/api/Article', article()) },
    { name: 'update', send: () => send('PUT', `/api/Article/${next()}`, { title: `No. ${++made}` }) },
  ];
  return { requests, stop };
}

/** Number of organisations of the user, each with ten documents. */
const ORGANISATIONS = 5;

/** Starts the service on SQLite with a user who may read and list only the documents of the organisations of which they are a member. */
export async function startDocuments(): Promise<CountedService> {
  const { url, close, user, createPolicy, createRecord } = await startService({ project: 'bench/relations/project', settings: SETTINGS });
  const { id: userId, token } = await user();
  const rules = ['read', 'list'].map((action) => ({ resource: 'Document', action, conditions: [isMember] }));
  await createPolicy({ rules, role: 'user' });
  const ids: string[] = [];
  for (let count = 0; count < ORGANISATIONS * 10; count++) {
    const organisationId = `organisation-${count % ORGANISATIONS}`;
    if (count < ORGANISATIONS) await createRecord('Membership', { userId, organisationId, level: 'editor' });
    ids.push(await createRecord('Document', { title: 'A document', body: 'x'.repeat(200), organisationId }));
  }
  let made = 0;
  const next = () => ids[++made % ids.length] ?? '';
  const { send, stop } = await openSender({ url, token, close });
  const requests: readonly CountedRequest[] = [
    { name: 'read by id, as a member', send: () => send('GET', `/api/Document/${next()}`) },
    { name: 'list of 20, as a member', send: () => send('GET', '/api/Document?limit=20') },
  ];
  return { requests, stop };
}

/** Pages that lie in folders and belong to teams. */
const PAGES = {
  'Folder.yaml': 'name: Folder\nfields:\n  parentId: { type: reference, to: Folder, onDelete: restrict, hierarchy: true }\n',
  'Team.yaml': 'name: Team\nfields:\n  name: { type: string }\n',
  'Page.yaml': `name: Page
fields:
  title:    { type: string }
  folderId: { type: reference, to: Folder, onDelete: restrict, index: true }
  teamIds:  { type: list, of: { type: reference, to: Team } }
`,
};
/** Pages of each folder. */
const PER_FOLDER = 10;

/** Starts the service on SQLite with a user who may list the pages below a folder, and one who may list those of an open team. */
export async function startPages(): Promise<CountedService> {
  const { url, close, user, createPolicy, createRecord } = await startService({ definitions: PAGES, settings: SETTINGS });
  const top = await createRecord('Folder', {});
  const teams = [await createRecord('Team', { name: 'closed' }), await createRecord('Team', { name: 'open' })];
  for (let folders = 0; folders < ORGANISATIONS; folders++) {
    const folderId = await createRecord('Folder', { parentId: top });
    for (let count = 0; count < PER_FOLDER; count++) await createRecord('Page', { title: 'A page', folderId, teamIds: teams });
  }
  const requests: CountedRequest[] = [];
  const stops: (() => Promise<void>)[] = [];
  for (const { name, ...condition } of [
    { name: 'list of 20, below a folder', field: 'resource.folderId', operator: 'within', value: [top] },
    { name: 'list of 20, of records of a list', field: 'resource.teamIds.name', operator: 'eq', value: 'open' },
  ]) {
    const { id, token } = await user();
    await createPolicy({ rules: [{ resource: 'Page', action: 'list', conditions: [condition] }], userId: id });
    const { send, stop } = await openSender({ url, token, close: async () => undefined });
    requests.push({ name, send: () => send('GET', '/api/Page?limit=20') });
    stops.push(stop);
  }
  return {
    requests,
    async stop() {
      for (const stop of stops) await stop();
      await close();
    },
  };
}

/** A service, and the token of its user. */
interface Sending {
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

/** Opens a client of the user; `stop` also stops the service. */
async function openSender({ url, token, close }: Sending): Promise<{
  send(method: string, path: string, body?: object): Promise<void>;
  stop(): Promise<void>;
}> {
  const client = await openLeanClient(url);
  return {
    send: (method, path, body) => client.send(toBytes({ method, path, token, ...(body !== undefined && { body }) })),
    async stop() {
      client.close();
      await close();
    },
  };
}

type Method = (...values: unknown[]) => unknown;

/** Counts the SQL statements that this process runs, on all connections, by patching the prototypes that they share. */
export function countStatements(): () => number {
  let count = 0;
  const countEach = (shared: Record<string, Method>, names: readonly string[]): void => {
    for (const name of names) {
      const original = shared[name];
      if (original === undefined) throw new Error(`expected the driver to have "${name}"`);
      shared[name] = function (this: unknown, ...values) {
        count++;
        return original.apply(this, values);
      };
    }
  };
  const database = new Database(':memory:');
  countEach(Object.getPrototypeOf(database.prepare('SELECT 1')), ['get', 'all', 'run', 'iterate']);
  countEach(Object.getPrototypeOf(database), ['exec']);
  database.close();
  // A text with several statements, such as BEGIN and the query of the clock, is one message and counted once.
  countEach(pg.Client.prototype as unknown as Record<string, Method>, ['query']);
  return () => count;
}
