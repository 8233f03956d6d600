/**
 * For the tests of this folder: the admin endpoints without an HTTP server, on a SQLite file. A test sends requests to an endpoint by its
 * operationId. The users are those of `pipeline.fixture.ts`; Ada is the admin.
 */
import { type AuditEntry, appendAuditEntries, createEntryId } from '../audit/index.ts';
import { NO_CHECKPOINTS } from '../audit/integrity/index.ts';
import { toImportLimits, toPolicyLimits } from '../component-options.ts';
import { parseConfig } from '../config/config.ts';
import type { Json } from '../operators/index.ts';
import { openPipeline, type TestPipeline, type TestPipelineOptions, type TestUser } from '../pipeline/pipeline.fixture.ts';
import { type HttpResponse, parseQuery } from '../request/index.ts';
import { createPolicy } from '../storage/index.ts';
import { type AdminDeps, toRoute } from './admin/index.ts';
import { adminEndpoints } from './admin-routes.ts';
import { createDecisionStreams } from './streams/decision-streams.ts';

/** The parts of a request to an admin endpoint. */
export interface TestAdminRequest {
  /** The caller. Default: Ada, the admin. */
  readonly as?: TestUser;
  readonly params?: Readonly<Record<string, string>>;
  /** The query as in a URL, without the question mark. */
  readonly query?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The admin endpoints under test. */
export interface TestAdmin {
  readonly pipeline: TestPipeline;
  readonly deps: AdminDeps;
  /** Sends a request to the endpoint with this operationId, such as `admin.policies.list`. Rejects with the Problem of a refused request. */
  send(id: string, request?: TestAdminRequest): Promise<HttpResponse>;
  /** Sends a request like `send`, and returns the body of its response. */
  bodyOf<Body>(id: string, request?: TestAdminRequest): Promise<Body>;
}

const SYSTEM: AdminDeps['system'] = {
  version: undefined,
  node: process.versions.node,
  startedAt: '2026-01-31T09:00:00.000Z',
  options: [],
  disk: { freeBytes: undefined, databaseBytes: undefined, fault: undefined },
  uptimeSeconds: () => 0,
  runningWorkers: () => undefined,
  lastBackup: () => undefined,
};

/** Opens the admin endpoints on a new database. */
export async function openAdmin(options: TestPipelineOptions, changed: Partial<AdminDeps> = {}): Promise<TestAdmin> {
  const pipeline = await openPipeline(options);
  const config = parseConfig({ flags: {}, env: {} });
  const { database, identity, policyStore } = pipeline.deps;
  const deps: AdminDeps = {
    database,
    identity,
    policyStore,
    limits: toPolicyLimits(config),
    importPolicies: config.importPolicies,
    importBounds: toImportLimits(config),
    milliseconds: config.adminMilliseconds,
    pageBytes: config.answerBytes,
    timeZone: config.timezone,
    ifMatch: config.ifMatch,
    auditMode: config.auditMode,
    checkpoints: NO_CHECKPOINTS,
    streams: createDecisionStreams(database),
    readDefinitions: () => policyStore.definitions,
    system: SYSTEM,
    ...changed,
  };
  const send: TestAdmin['send'] = (id, { as = 'ada', params = {}, query = '', body, headers = {} } = {}) => {
    const endpoint = adminEndpoints.find((each) => each.id === id);
    if (endpoint === undefined) throw new Error(`no endpoint has the operationId ${id}`);
    const request = {
      method: endpoint.method,
      params: new Map(Object.entries(params)),
      query: parseQuery(query),
      body,
      header: (name: string) => headers[name],
      origin: pipeline.originOf(as),
    };
    return toRoute(deps, endpoint).handle(request, () => undefined);
  };
  return { pipeline, deps, send, bodyOf: async <Body>(id: string, request?: TestAdminRequest) => (await send(id, request)).body as Body };
}

/** Creates a policy that allows to read articles. Returns its id. */
export async function createdPolicy(admin: TestAdmin, name: string): Promise<string> {
  const rule = { resource: 'Article', action: 'read', effect: 'ALLOW', conditions: [], priority: 100, isActive: true } as const;
  const input = { name, type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [rule] } as const;
  return (await admin.deps.database.transaction((tx) => createPolicy(tx, input, { by: 'ada' }))).id;
}

/** Appends audit entries with these members: by default denied reads of articles, now. Returns their ids. */
export async function appendEntries(admin: TestAdmin, entries: readonly Partial<AuditEntry>[]): Promise<readonly string[]> {
  const rows = entries.map(
    (members): AuditEntry => ({
      id: createEntryId(),
      at: new Date().toISOString(),
      kind: 'access',
      role: 'user',
      resource: 'Article',
      action: 'read',
      allowed: false,
      reason: 'no rule matched',
      epoch: 1,
      requestId: 'r1',
      ip: '192.0.2.1',
      ...members,
    }),
  );
  await admin.deps.database.transaction(async (tx) => appendAuditEntries(tx, rows));
  return rows.map(({ id }) => id);
}
