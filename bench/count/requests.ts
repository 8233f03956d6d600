import Database from 'better-sqlite3';
import { startService } from '../../test/harness.ts';
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
  /** Returns the number of SQL statements that this process has run. */
  statements(): number;
  stop(): Promise<void>;
}

/** Starts the service on SQLite with a user who may read, list, create and update only their own articles. */
export async function startCounted(): Promise<CountedService> {
  const statements = countStatements();
  const { url, close, user, createPolicy, createRecord } = await startService({
    project: 'bench/http/project',
    settings: { rateLimit: 0, backupsKept: 0 },
  });
  const { id: authorId, token } = await user();
  const conditions = [{ field: 'resource.authorId', operator: 'eq', value: '${user.id}' }];
  const rules = ['read', 'list', 'create', 'update'].map((action) => ({ resource: 'Article', action, conditions }));
  await createPolicy({ rules, role: 'user' });
  let made = 0;
  const article = () => ({ title: 'An article', slug: `slug-${++made}`, body: 'x'.repeat(200), authorId });
  const ids: string[] = [];
  for (let count = 0; count < ARTICLES; count++) ids.push(await createRecord('Article', article()));
  const next = () => ids[++made % ARTICLES] ?? '';
  const client = await openLeanClient(url);
  const send = (method: string, path: string, body?: object): Promise<void> =>
    client.send(toBytes({ method, path, token, ...(body !== undefined && { body }) }));
  const requests: readonly CountedRequest[] = [
    { name: 'read by id', send: () => send('GET', `/api/Article/${next()}`) },
    { name: 'list of 20', send: () => send('GET', '/api/Article?limit=20') },
    { name: 'create', send: () => send('POST', '/api/Article', article()) },
    { name: 'update', send: () => send('PUT', `/api/Article/${next()}`, { title: `No. ${++made}` }) },
  ];
  const stop = async (): Promise<void> => {
    client.close();
    await close();
  };
  return { requests, statements, stop };
}

type Method = (...values: unknown[]) => unknown;

/** Counts the statements of all connections, by patching the prototypes that they share. */
function countStatements(): () => number {
  let count = 0;
  const countEach = (shared: Record<string, Method>, names: readonly string[]): void => {
    for (const name of names) {
      const original = shared[name];
      if (original === undefined) throw new Error(`expected better-sqlite3 to have "${name}"`);
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
  return () => count;
}
