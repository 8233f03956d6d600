import Database from 'better-sqlite3';
import { type Reply, startService } from '../../test/harness.ts';

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
  const { close, user, createPolicy, createRecord, call } = await startService({
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
  const requests: readonly CountedRequest[] = [
    { name: 'read by id', send: async () => expectSuccess(await call('GET', `/api/Article/${next()}`, { token })) },
    { name: 'list of 20', send: async () => expectSuccess(await call('GET', '/api/Article?limit=20', { token })) },
    { name: 'create', send: async () => expectSuccess(await call('POST', '/api/Article', { token, body: article() })) },
    {
      name: 'update',
      send: async () => expectSuccess(await call('PUT', `/api/Article/${next()}`, { token, body: { title: `No. ${++made}` } })),
    },
  ];
  return { requests, statements, stop: close };
}

function expectSuccess({ status, text }: Reply): void {
  if (status >= 300) throw new Error(`expected a success, given ${status}: ${text}`);
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
