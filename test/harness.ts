/**
 * Starts a service for tests through HTTP, with its own data folder and a free port, and helpers for an admin, users,
 * policies, records and audit entries.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigSources, parseConfig } from '../src/config/config.ts';
import { createService, type ServiceOptions as ProductOptions } from '../src/service.ts';
import { describeDamage, openForReading, verifyRows } from '../src/storage/index.ts';
import { openUrl } from '../src/storage/storage.fixture.ts';
import { databaseFolder } from './database-folder.ts';
import { createDatabaseUrl, onPostgres } from './postgres/test-database.ts';

/** Options of a test service. */
export interface ServiceOptions {
  /** Project folder, which contains `resources/`, relative to the checkout. */
  readonly project?: string;
  /** Definition files of a temporary project: file name → text. */
  readonly definitions?: Readonly<Record<string, string>>;
  readonly settings?: ConfigSources['flags'];
  /** Serve as `bailiwick dev` does. */
  readonly isDevelopment?: boolean;
  /** The test damages rows, or edits them with SQL. By default, `close` requires that all rows match their checksums. */
  readonly damagesRows?: boolean;
  /** Hash passwords at the costs of the product. Default: at the lowest costs, because most tests hash passwords only to log in. */
  readonly hasProductHashCosts?: boolean;
  /** The folder of a built console, with a `/` at the end. Default: that of the checkout, which may have none. */
  readonly consoleFolder?: URL;
  /** Options of the streams of audit entries. */
  readonly streams?: NonNullable<ProductOptions['streams']>;
}

/** Token, body and headers of a request. */
export interface CallOptions {
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
  /** Returns the value at a dotted path of the body, such as `data.0.id`. */
  at(path: string): unknown;
}

/** A user created for a test. */
export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/** A policy of a test. The default name is generated. */
export interface TestPolicy {
  readonly name?: string;
  readonly type?: string;
  readonly priority?: number;
  readonly rules: readonly object[];
  readonly role?: string;
  readonly roles?: readonly string[];
  readonly userId?: string;
}

/** A service under test, with helpers. */
export interface RunningService {
  readonly url: string;
  readonly dataFolder: string;
  /** The `database` option. */
  readonly database: string;
  /** Sends a request. The path is not normalized: `//` and `%2e` are sent as given. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Returns the first admin, which the first call creates. */
  admin(): Promise<TestUser>;
  /** Creates a user and logs in. */
  user(fields?: Readonly<Record<string, unknown>>): Promise<TestUser>;
  logIn(email: string, password: string): Promise<string>;
  /** Creates and assigns a policy; returns its id. */
  createPolicy(policy: TestPolicy): Promise<string>;
  /** Creates a record as admin; returns its id. */
  createRecord(resource: string, data: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns audit entries, newest first; `query` as in `GET /admin/api/decisions`. Omits the entries of these searches. */
  decisions(query?: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Creates a setup token, as a start does; undefined if an admin exists or setup is off. */
  openSetup(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Starts a service on a free port, with its data in a temporary folder that `close` removes. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-test-'));
  const project = options.project === undefined ? writeProject(folder, options.definitions ?? {}) : resolve(root, options.project);
  const dataFolder = join(folder, 'data');
  const flags = {
    project,
    data: dataFolder,
    ...(onPostgres && { database: createDatabaseUrl(folder) }),
    port: 0,
    logLevel: 'silent',
    // A busy machine must not end pages early or refuse imports.
    scanMilliseconds: 60_000,
    writeMilliseconds: 60_000,
    // Tests count the audit entries of each request.
    denialWindowSeconds: 0,
    ...options.settings,
  };
  const config = parseConfig({ flags, env: {} });
  const { isDevelopment, hasProductHashCosts = false, consoleFolder, streams } = options;
  const passwordCosts = hasProductHashCosts ? undefined : LOWEST_COSTS;
  // Each partition takes several milliseconds. Entries of tomorrow are in the default partition until the next day's maintenance.
  const timeLimits = TIME_LIMITS;
  const starting = createService(config, { isDevelopment, passwordCosts, daysInAdvance: 0, consoleFolder, streams, timeLimits });
  const service = await starting.catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const { url } = await service.listen();
  // Reuses connections: a new one for each request costs two fifths of the time of most tests. The service closes an idle connection after 72
  // seconds, so no request is lost if this process is blocked for seconds.
  const agent = new Agent({ keepAlive: true });
  return {
    url,
    dataFolder,
    database: config.database,
    ...createHelpers({
      call: (method, path, sent = {}) => send({ url, agent, method, path, ...sent }),
      openSetup: () => service.openSetup(),
    }),
    async close() {
      try {
        if (options.damagesRows !== true) await requireIntactRows(config.database);
      } finally {
        await service.close();
        agent.destroy();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Throws if a row does not match its checksum: after the requests of a test, every write must have written the checksum. */
async function requireIntactRows(database: string): Promise<void> {
  const opened = onPostgres ? openUrl(database) : await openForReading({ database });
  try {
    const found = await opened.transaction((tx) => verifyRows((work) => work(tx)), { unlimited: true });
    const { damaged = [] } = found ?? {};
    if (damaged.length > 0) throw new Error(`expected no damaged rows, found ${damaged.map(describeDamage).join('; ')}`);
  } finally {
    await opened.close();
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));
const password = 'correct horse battery';
/** A busy machine must not refuse a cascade. The limit of short attempts is that of the product, because longer attempts give the same answer. */
const TIME_LIMITS = { short: 10, writer: 60_000 };
/** The costs of password hashes in tests. */
export const LOWEST_COSTS: NonNullable<ProductOptions['passwordCosts']> = { memoryCost: 8, timeCost: 1, parallelism: 1 };

function writeProject(folder: string, definitions: Readonly<Record<string, string>>): string {
  const resources = join(folder, 'project', 'resources');
  mkdirSync(resources, { recursive: true });
  for (const [file, text] of Object.entries(definitions)) writeFileSync(join(resources, file), text);
  return join(folder, 'project');
}

type HelperDeps = Pick<RunningService, 'call' | 'openSetup'>;

function createHelpers({ call, openSetup }: HelperDeps): Omit<RunningService, 'url' | 'dataFolder' | 'database' | 'close'> {
  let first: Promise<TestUser> | undefined;
  let count = 0;

  const asAdmin = async (method: string, path: string, body?: unknown): Promise<Reply> =>
    expectSuccess(await call(method, path, { token: (await admin()).token, body }), `${method} ${path}`);
  const logIn = async (email: string, secret: string): Promise<string> =>
    textAt(expectSuccess(await call('POST', '/auth/login', { body: { email, password: secret } }), 'login'), 'token');
  const createRecord = async (resource: string, data: Readonly<Record<string, unknown>>): Promise<string> =>
    textAt(await asAdmin('POST', `/api/${resource}`, data), 'data.id');

  const setUp = async (): Promise<TestUser> => {
    const email = 'admin@example.com';
    // With the token, because a service with a trusted proxy or allowed hosts requires it.
    const body = { email, password, name: 'Admin', token: await openSetup() };
    const made = expectSuccess(await call('POST', '/auth/setup', { body }), 'setup');
    return { id: textAt(made, 'user.id'), email, password, token: await logIn(email, password) };
  };
  const admin = (): Promise<TestUser> => {
    first ??= setUp();
    return first;
  };

  return {
    call,
    openSetup,
    admin,
    logIn,
    createRecord,
    async user(fields = {}) {
      const email = `user${++count}@example.com`;
      const id = await createRecord('User', { name: `User ${count}`, email, password, ...fields });
      return { id, email, password, token: await logIn(email, password) };
    },
    async createPolicy({ role, roles = [], userId, ...policy }) {
      const id = textAt(await asAdmin('POST', '/admin/api/policies', { name: `policy ${++count}`, type: 'CUSTOM', ...policy }), 'data.id');
      for (const each of role === undefined ? roles : [role, ...roles])
        await asAdmin('POST', `/admin/api/policies/${id}/assign/role/${each}`, {});
      if (userId !== undefined) await asAdmin('POST', `/admin/api/policies/${id}/assign/user/${userId}`, {});
      return id;
    },
    async decisions(query = '') {
      const parameters = new URLSearchParams(query);
      const max = Number(parameters.get('limit') ?? 50);
      // More rows, because searches are in the audit log too: one page mostly contains enough other entries.
      let limit = parameters.get('kind') === 'access' ? max : Math.min(2 * max + 10, 1000);
      const entries: Readonly<Record<string, unknown>>[] = [];
      while (entries.length < max) {
        parameters.set('limit', String(limit));
        const page = await asAdmin('GET', `/admin/api/decisions?${parameters}`);
        const found = page.at('data') as typeof entries;
        entries.push(...found.filter(({ action, allowed }) => action !== 'decisions.list' || allowed === false));
        if (page.at('nextCursor') === undefined) break;
        parameters.set('cursor', String(page.at('nextCursor')));
        // Each page adds an entry. With pages of one size, a series of searches without other requests would need ever more of them.
        limit = Math.min(8 * limit, 1000);
      }
      return entries.slice(0, max);
    },
  };
}

function expectSuccess(reply: Reply, operation: string): Reply {
  if (reply.status >= 300) throw new Error(`expected success of ${operation}, given ${reply.status}: ${reply.text}`);
  return reply;
}

function textAt(reply: Reply, path: string): string {
  const value = reply.at(path);
  if (typeof value !== 'string') throw new Error(`expected a text at ${path} of ${reply.text}`);
  return value;
}

interface SentRequest extends CallOptions {
  readonly url: string;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
}

async function send({ url, agent, method, path, token, body, raw, headers = {} }: SentRequest): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const content = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const sent = request({ hostname, port, method, path, agent, headers: { ...content, ...authorization, ...headers } }, done);
    sent.on('error', fail);
    sent.end(text);
  });
  return toReply(response);
}

async function toReply(response: IncomingMessage): Promise<Reply> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk;
  const isJson = /^application\/(problem\+)?json/.test(response.headers['content-type'] ?? '') && text !== '';
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: response.statusCode ?? 0, headers: response.headers, text, body, at: (path) => valueAt(body, path) };
}

function valueAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, key) => {
    return typeof part === 'object' && part !== null && Object.hasOwn(part, key) ? (part as Record<string, unknown>)[key] : undefined;
  }, body);
}
