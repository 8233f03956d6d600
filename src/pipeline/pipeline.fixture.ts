/**
 * For tests of the pipeline: the components of a service without its HTTP server, by default on a SQLite file. The users are Ada, an admin
 * who may do everything, and Ann and Ben of the role `user`, who may do what the rules of a test allow.
 */
import { createSecretKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditEntry, searchEntries } from '../audit/index.ts';
import { createAuthentication } from '../authn/authentication.ts';
import { openSession } from '../authn/sessions.ts';
import { loadTokenKey } from '../authn/signing-key.ts';
import { createTokens } from '../authn/tokens.ts';
import { createPolicyStore, withRevisions } from '../authz/index.ts';
import type { RuleInput } from '../authz/policies/index.ts';
import { toAuthenticationOptions, toPipelineOptions, toPolicyStoreOptions } from '../component-options.ts';
import { parseConfig } from '../config/config.ts';
import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import type { ApiRequest, RequestOrigin } from '../request/index.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import { loadProject } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import type { BatchLimits } from '../storage/attempt.ts';
import { assignToRole, createPolicy, type Database, insertRecord, migrate, openSqlite, type Transaction } from '../storage/index.ts';
import { failure, resourceOf, toRecord } from '../storage/storage.fixture.ts';
import { createRequestContext, type PipelineDeps, type PipelineOptions, type RequestContext } from './request-context.ts';
import { authenticate, withUnitOfWork } from './unit-of-work.ts';

/** A caller of the tests; `anon` sends no token. */
export type TestUser = 'ada' | 'ann' | 'ben' | 'anon';

/** Records to store: resource → id → values. */
export type TestRecords = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** A rule of the role `user`. By default it allows every action on every resource. */
export type TestRule = Partial<RuleInput>;

/** A request. By default it has no filter, order or page. */
export type TestRequest = Pick<ApiRequest, 'action' | 'resource'> & Partial<ApiRequest>;

/** A request, and the state that is added for it. */
export interface Situation {
  readonly as: TestUser;
  readonly request: TestRequest;
  readonly rules?: readonly TestRule[] | undefined;
  readonly records?: TestRecords | undefined;
  readonly options?: Partial<PipelineOptions> | undefined;
}

/** The pipeline under test. */
export interface TestPipeline {
  readonly deps: PipelineDeps;
  originOf(user: TestUser): RequestOrigin;
  /** Runs `work` in the context of a request, in a transaction that is rolled back. */
  inContext<T>(situation: Situation, work: (context: RequestContext) => Promise<T>): Promise<T>;
  /** Stores records and commits. */
  store(records: TestRecords): Promise<void>;
  /** Creates a policy with these rules for the role `user` and commits. */
  grant(...rules: readonly TestRule[]): Promise<void>;
  /** Loads a table as it is stored, in the order of the ids. */
  rows(table: string): Promise<readonly Record<string, unknown>[]>;
  /** Loads the audit entries, the first one first. */
  entries(): Promise<readonly AuditEntry[]>;
  dispose(): Promise<void>;
}

/** Options of a pipeline under test. */
export interface TestPipelineOptions {
  /** The definitions of the project: name → other members. */
  readonly definitions: Readonly<Record<string, JsonObject>>;
  readonly records?: TestRecords;
  readonly rules?: readonly TestRule[];
  readonly options?: Partial<PipelineOptions>;
  readonly deps?: Partial<Pick<PipelineDeps, 'auditMode' | 'observer'>>;
  /** The time limits of attempts in a commit batch. Default: limits that a busy machine does not reach. */
  readonly timeLimits?: BatchLimits;
  /** An empty database; a new SQLite file if absent. */
  readonly database?: Database;
}

const AMPLE: BatchLimits = { short: 60_000, writer: 60_000 };

const USERS: TestRecords = {
  User: {
    ada: { name: 'Ada', email: 'ada@example.com', role: 'admin', isActive: true },
    ann: { name: 'Ann', email: 'ann@example.com', role: 'user', isActive: true },
    ben: { name: 'Ben', email: 'ben@example.com', role: 'user', isActive: true },
  },
};

/** Opens a pipeline on a new database. */
export async function openPipeline(given: TestPipelineOptions): Promise<TestPipeline> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-pipeline-'));
  const { deps, sign } = await createDeps(folder, given);
  const { database, policyStore } = deps;
  const tokens = new Map<TestUser, string>();
  const test: TestPipeline = {
    deps,
    originOf: (user) => ({ requestId: 'r1', method: 'POST', path: '/api', ip: '192.0.2.1', token: tokens.get(user) }),
    async inContext({ as, request, rules, records, options }, work) {
      const changed: PipelineDeps = { ...deps, options: { ...deps.options, ...options } };
      const caller = await authenticate(deps, test.originOf(as));
      const error = await failure(
        withUnitOfWork(changed, { caller }, async (unit) => {
          await addRecords(unit.tx, unit.snapshot.definitions, records);
          if (rules !== undefined) await addRules(unit.tx, 'user', rules);
          const snapshot = rules === undefined ? unit.snapshot : await policyStore.snapshotAfterChange(unit.tx);
          throw new RolledBack(await work(createRequestContext({ ...unit, snapshot }, toApiRequest(request))));
        }),
      );
      if (error instanceof RolledBack) return error.result as Awaited<ReturnType<typeof work>>;
      throw error;
    },
    store: (records) => database.transaction((tx) => addRecords(tx, policyStore.definitions, records)),
    grant: (...rules) => database.transaction((tx) => addRules(tx, 'user', rules)),
    rows: (table) => database.transaction((tx) => tx.all(sql`SELECT * FROM ${sql.table(table)} ORDER BY "id"`)),
    entries: () => database.transaction(async (tx) => (await searchEntries(tx, { limit: 1000 })).entries.toReversed()),
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  // One transaction, because each commit waits for the disk.
  await database.transaction(async (tx) => {
    await addRecords(tx, policyStore.definitions, USERS);
    await addRecords(tx, policyStore.definitions, given.records);
    await addRules(tx, 'admin', [{}]);
    if (given.rules !== undefined) await addRules(tx, 'user', given.rules);
  });
  const names = ['ada', 'ann', 'ben'] as const;
  await Promise.all(names.map(async (user) => tokens.set(user, await sign(user))));
  return test;
}

/** Ends a transaction whose changes must not stay. */
class RolledBack extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('rolled back by the test');
    this.result = result;
  }
}

interface TestDeps {
  readonly deps: PipelineDeps;
  /** Logs a user in and returns the access token. */
  sign(userId: string): Promise<string>;
}

async function createDeps(folder: string, given: TestPipelineOptions): Promise<TestDeps> {
  // A busy machine must not end pages early, read lists in other statements, or refuse requests that write.
  const flags = { project: folder, data: folder, scanMilliseconds: 60_000, writeMilliseconds: 60_000 };
  const config = parseConfig({ flags, env: {} });
  const policyStore = createPolicyStore(writeDefinitions(folder, given.definitions), toPolicyStoreOptions(config));
  const opened =
    given.database ??
    openSqlite({
      path: join(folder, 'test.db'),
      maxBatchTime: Number.POSITIVE_INFINITY,
      timeLimits: given.timeLimits ?? AMPLE,
      timeZone: config.timezone,
    });
  await migrate(opened, policyStore.definitions, { holder: policyStore });
  const database = withRevisions(opened, policyStore);
  const key = loadTokenKey({ algorithm: 'HS256', secret: 's'.repeat(32), dataFolder: folder });
  const authentication = toAuthenticationOptions(config);
  const identity = createAuthentication({
    database,
    key,
    options: authentication,
    userDefinition: () => policyStore.definitions.get('User') as Resource,
    onFirstAdmin: async () => undefined,
  });
  const [encryption, signature] = [createSecretKey(Buffer.alloc(32, 7)), createSecretKey(Buffer.alloc(32, 8))];
  const options = { ...toPipelineOptions(config, { encryption, signature }), ...given.options };
  const tokens = createTokens(key, authentication);
  return {
    deps: { database, identity, policyStore, options, auditMode: 'strict', ...given.deps },
    async sign(userId) {
      const { sessionId, now } = await opened.transaction(async (tx) => ({
        ...(await openSession(tx, { userId, client: { ip: '192.0.2.1' }, seconds: 3600 })),
        now: tx.now,
      }));
      return tokens.sign({ userId, sessionId, role: 'user', now, seconds: 3600 });
    },
  };
}

/** Writes definition files and loads them as a start does. */
function writeDefinitions(folder: string, given: TestPipelineOptions['definitions']): Definitions {
  const resources = join(folder, 'resources');
  mkdirSync(resources);
  for (const [name, members] of Object.entries(given)) {
    writeFileSync(join(resources, `${name}.yaml`), JSON.stringify({ name, ...members }));
  }
  const { definitions, mistakes } = loadProject(resources);
  if (mistakes.length > 0) throw new Error(mistakes.map(({ file, detail }) => `${file}: ${detail}`).join('; '));
  return definitions;
}

async function addRecords(tx: Transaction, definitions: Definitions, records: TestRecords = {}): Promise<void> {
  for (const [name, byId] of Object.entries(records)) {
    for (const [id, values] of Object.entries(byId)) await insertRecord(tx, resourceOf(definitions, name), toRecord(id, values));
  }
}

async function addRules(tx: Transaction, role: 'user' | 'admin', rules: readonly TestRule[]): Promise<void> {
  const defaults: RuleInput = { resource: '*', action: '*', effect: 'ALLOW', conditions: [], priority: 100, isActive: true };
  const name = `rules of ${role} ${crypto.randomUUID()}`;
  const policy = { name, type: 'CUSTOM', isActive: true, priority: 100, tags: [] } as const;
  const { id } = await createPolicy(tx, { ...policy, rules: rules.map((rule) => ({ ...defaults, ...rule })) }, { by: 'ada' });
  await assignToRole(tx, { role, policyId: id }, { by: 'ada' });
}

/** Returns a request with all members. */
export function toApiRequest(request: TestRequest): ApiRequest {
  return { where: [], typed: true, sort: [], total: false, ...request };
}

/** Returns each entry in short: `allow read Article a1`, and after a failure of the request `allow update Article a1 VALUE_INVALID`. */
export function inShort(entries: readonly AuditEntry[]): readonly string[] {
  return entries.map(({ allowed, action, resource, recordId, outcome }) =>
    [allowed ? 'allow' : 'deny', action, resource, recordId, outcome].filter((part) => part !== undefined).join(' '),
  );
}

/** Returns the code of the problem that a promise rejects with, and the paths and codes of its issues: `VALUE_INVALID title:required`. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await failure(promise);
  if (error instanceof Problem) return inCode(error);
  throw error ?? new Error('expected a problem, given a result');
}

/** Returns the code of a problem, and the paths and codes of its issues. */
export function inCode({ code, extras }: Problem): string {
  return [code, ...(extras.errors ?? []).map((issue) => `${issue.path}:${issue.code}`)].join(' ');
}

/** Columns that no test compares: the times. */
const TIMES: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'deletedAt']);

/** Loads the rows of tables in short, ordered by table and id: `Leaf l1 goesId=n1`; a version only above 1. */
export async function storedIn(tx: Transaction, tables: readonly string[]): Promise<readonly string[]> {
  const stored: string[] = [];
  for (const table of tables) {
    for (const { id, ...row } of await tx.all(sql`SELECT * FROM ${sql.table(table)} ORDER BY "id"`)) {
      const values = Object.entries(row).filter(
        ([name, value]) => value !== null && !TIMES.has(name) && !(name === 'version' && value === 1),
      );
      stored.push([table, id, ...values.map(([name, value]) => `${name}=${value}`)].join(' '));
    }
  }
  return stored;
}
