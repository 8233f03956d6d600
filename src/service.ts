/**
 * The one place where the parts meet, built by hand, top to bottom: definitions → database → tables → identity →
 * routes → server.
 */
import {
  type AdminParts,
  type ApiDeps,
  createAdminRoutes,
  createApiRoutes,
  createDescriptionRoute,
  createPermissionPolicies,
  grantFullAccess,
  withExplanationHints,
} from './api/index.ts';
import type { Checkpoints } from './audit/integrity/index.ts';
import { createAuditMaintenance } from './audit/maintenance.ts';
import { createAuthentication, deriveKey, loadTokenKey } from './authn/index.ts';
import { createPolicyStore, type PolicyStore, type RevisionedDatabase, withRevisions } from './authz/index.ts';
import {
  toAllowedHosts,
  toAuditMaintenanceOptions,
  toAuthenticationOptions,
  toHttpLimits,
  toImportBounds,
  toMonitoringOptions,
  toPipelineOptions,
  toPolicyLimits,
  toPolicyStoreOptions,
  toPrimaryOptions,
  toRequestLimits,
} from './component-options.ts';
import type { Config } from './config/index.ts';
import { createHttpServer, type HttpServer } from './http/index.ts';
import { createMonitoring, type Monitoring } from './observability/monitoring.ts';
import { createReadiness, type ReadinessProbe } from './observability/readiness.ts';
import { createOperations, type Operations } from './operations.ts';
import { definitionFolder, openProjectDatabase, readProject, watchDefinitions } from './project/index.ts';
import type { Route } from './request/index.ts';
import { type Definitions, loadChecks, type Resource } from './resources/index.ts';
import { type Database, type Log, type MigrationResult, migrate, type Plan } from './storage/index.ts';
import type { Primary, PrimaryLink, WorkerRequestHandlers } from './workers/index.ts';

/** A running service, or one about to run. */
export interface Service extends Operations {
  /** What an operator should know on start, a sentence each; complete once it listens. */
  readonly notices: readonly string[];
  /** Lets tables follow the definitions; `listen` does it too. @throws SetupError where it cannot. */
  prepare(): Promise<void>;
  /** Lets tables follow the definitions, then listens. @throws SetupError where it cannot. */
  listen(): Promise<{ readonly url: string }>;
  /** Makes a set-up token, to be printed, while no admin exists; undefined where one does, or where set-up is off. */
  openSetup(): Promise<string | undefined>;
  /** Follows changes of definition files from now on; each change is told in a sentence. */
  watch(tell: (line: string) => void): void;
  /** Lets requests in flight end, commits, closes. */
  close(how?: ServiceEnd): Promise<void>;
}

/** How a service ends. */
export interface ServiceEnd {
  /** Whether another process takes its place: then requests go on being answered at its address, and `/readyz` says nothing else. */
  readonly isReplaced?: boolean;
}

/** Who is told of what takes long while it does, and of backups that are made. */
export interface ServiceOptions {
  readonly tell?: Log;
  /** Where this is one of several processes: who leads them. */
  readonly lead?: PrimaryLink | undefined;
  /** Set by `bailiwick dev`: denials name the address that explains them. */
  readonly isDevelopment?: boolean | undefined;
}

/** Builds a service from its settings. @throws SetupError with every mistake of every definition file. */
export async function createService(settings: Config, { tell, lead, isDevelopment = false }: ServiceOptions = {}): Promise<Service> {
  const definitions = readProject(settings.project);
  const monitor = await createMonitoring(toMonitoringOptions(settings), lead);
  const opened = await openProjectDatabase(settings, { watch: monitor.metrics, tell });
  const policyStore = createPolicyStore(definitions, toPolicyStoreOptions(settings));
  const database = withRevisions(opened, policyStore);
  const core = { database: opened, policyStore };
  const notices: string[] = [];
  monitor.metrics?.setSource({ figures: () => database.metrics, revision: policyStore.revision });
  const readiness = createReadiness({ database, policyStore });
  const parts = createParts(settings, { database, policyStore, monitor });
  const keeper = createAuditMaintenance(toAuditMaintenanceOptions(settings), { database, tell });
  const admin = createAdminParts(settings, { ...parts, checkpoints: keeper.checkpoints });
  const server = createServer(settings, { isDevelopment, parts, admin, monitor, readiness });
  const evolveOnce = once(async () => {
    notices.push(...(await follow(definitions, core, { actor: 'start', tell })));
    await keeper.prepare();
  });
  const prepare = once(async () => {
    await evolveOnce();
    notices.push(...(await tellPermissions(database, policyStore)));
  });
  lead?.handleRequests(toRequestHandlers(server, monitor, readiness));
  let stopWatching = (): void => undefined;

  return {
    notices,
    prepare,
    async listen() {
      await prepare();
      notices.push(...(await monitor.open(() => readiness.check())));
      keeper.start();
      return listenAt(server, settings);
    },
    openSetup: () => parts.identity.openSetup(),
    watch(tell) {
      stopWatching = followFiles(settings.project, core, tell);
    },
    ...createOperations({ parts, admin }, evolveOnce),
    async close({ isReplaced = false } = {}) {
      stopWatching();
      if (!isReplaced) readiness.stop();
      await server.close(isReplaced ? { delaySeconds: HANDOVER_SECONDS } : { released: lead?.released });
      await monitor.close();
      await keeper.close();
      await database.close();
      lead?.sendFinalMetrics((await monitor.metrics?.values()) ?? []);
    },
  };
}

function toRequestHandlers(server: HttpServer, monitor: Monitoring, readiness: ReadinessProbe): WorkerRequestHandlers {
  return {
    metrics: async () => monitor.metrics?.values() ?? [],
    readiness: () => readiness.check(),
    accepted: async () => server.accepted,
  };
}

/** For whoever keeps a connection open to send one more request, and with its answer be told to open the next elsewhere. */
const HANDOVER_SECONDS = 1;

/** Leads workers that each are such a service. */
export async function createPrimaryService(
  settings: Config,
  { tell = () => undefined }: Pick<ServiceOptions, 'tell'> = {},
): Promise<Primary> {
  return (await import('./workers/index.ts')).createPrimary(toPrimaryOptions(settings), tell);
}

/** Follows definition files from now on; answers what ends it. */
function followFiles(project: string, core: Core, tell: Log): () => void {
  return watchDefinitions(
    definitionFolder(project),
    async () => {
      const told = await follow(readProject(project), core, { actor: 'dev', tell });
      for (const line of told.length > 0 ? told : ['definitions read again: nothing to do']) tell(line);
    },
    tell,
  );
}

/** What the routes are made of. */
interface Core {
  readonly database: Database;
  readonly policyStore: PolicyStore;
}

/** What requests are answered from. */
interface Followers {
  readonly database: RevisionedDatabase;
  readonly policyStore: PolicyStore;
  readonly monitor: Monitoring;
}

function createParts(settings: Config, { database, policyStore, monitor }: Followers): ApiDeps {
  const key = loadTokenKey({ algorithm: settings.jwtAlgorithm, secret: settings.jwtSecret, dataFolder: settings.data });
  const identity = createAuthentication({
    database,
    key,
    options: toAuthenticationOptions(settings),
    userDefinition: () => policyStore.definitions.get('User') as Resource,
    onFirstAdmin: grantFullAccess,
  });
  return {
    database,
    identity,
    policyStore,
    options: toPipelineOptions(settings, deriveKey(key, 'cursors')),
    limits: toRequestLimits(settings),
    importBounds: toImportBounds(settings),
    auditMode: settings.auditMode,
    watch: monitor.metrics,
  };
}

interface Served {
  readonly parts: ApiDeps;
  readonly admin: AdminParts;
  readonly monitor: Monitoring;
  readonly readiness: ReadinessProbe;
  readonly isDevelopment: boolean;
}

function createAdminParts(
  settings: Config,
  { database, identity, policyStore, importBounds, checkpoints }: ApiDeps & { readonly checkpoints: Checkpoints },
): AdminParts {
  return {
    database,
    identity,
    policyStore,
    limits: toPolicyLimits(settings),
    checkpoints,
    importPolicies: settings.importPolicies,
    importBounds,
    timeZone: settings.timezone,
    ifMatch: settings.ifMatch,
    readDefinitions: () => readProject(settings.project),
  };
}

function createServer(settings: Config, { parts, admin, monitor, readiness, isDevelopment }: Served): HttpServer {
  const { identity } = parts;
  const api = createApiRoutes(parts);
  return createHttpServer({
    routes: [
      ...(isDevelopment ? withExplanationHints(api) : api),
      ...identity.routes,
      ...createAdminRoutes(admin),
      ...describe(settings, parts),
      ...monitor.routes,
    ],
    limits: toHttpLimits(settings),
    corsOrigins: settings.corsOrigins,
    trustProxy: settings.trustProxy,
    allowedHosts: toAllowedHosts(settings),
    logLevel: settings.logLevel,
    pages: settings.docs === 'off' ? 'errors' : 'all',
    ready: () => readiness.check(),
    watch: monitor.metrics,
  });
}

function describe({ docs, setup }: Config, parts: ApiDeps): readonly Route[] {
  return docs === 'off' ? [] : [createDescriptionRoute(parts, { docs, hasSetup: setup !== 'off' })];
}

async function listenAt(server: HttpServer, { host, port }: Config): ReturnType<HttpServer['listen']> {
  const listening = await server.listen({ host, port });
  setImmediate(loadChecks);
  return listening;
}

/** Lets tables follow the definitions and puts in force what could be withRevisions; tells what was done and what was not. */
async function follow(
  definitions: Definitions,
  { database, policyStore }: Core,
  told: { readonly actor: 'start' | 'dev'; readonly tell: Log | undefined },
): Promise<readonly string[]> {
  const evolved = await migrate(database, definitions, { keeper: policyStore, ...told });
  return [...tellDone(evolved), ...tellHeld(evolved.plan)];
}

/** Our own tables go without saying, and so do the columns and indexes of a table that is new. */
function tellDone({ done }: MigrationResult): readonly string[] {
  const made = new Set(done.filter(({ kind }) => kind === 'createTable').map(({ resource }) => resource));
  const names = [...made].filter((name) => !name.startsWith('_'));
  const others = done.filter(({ resource }) => !made.has(resource) && !resource.startsWith('_'));
  return [...(names.length > 0 ? [`tables made: ${names.join(', ')}`] : []), ...others.map(({ reason }) => reason)];
}

function tellHeld({ steps, held, hash }: Plan): readonly string[] {
  const unsafe = steps.filter(({ resource, risk }) => held.includes(resource) && risk !== 'safe' && risk !== 'needs-backfill');
  const told = unsafe.map(({ resource, reason }) => `${resource} stays as it was: ${reason}`);
  const asks = unsafe.some(({ risk }) => risk !== 'blocked');
  return asks
    ? [...told, `what is lost can be seen with bailiwick storage plan, and allowed with bailiwick storage apply --allow ${hash}`]
    : told;
}

async function tellPermissions(database: Database, policyStore: PolicyStore): Promise<readonly string[]> {
  const policies = await database.transaction((tx) => createPermissionPolicies(tx, policyStore.definitions, { apply: false }));
  const missing = policies.filter(({ state }) => state === 'missing').length;
  if (missing === 0) return [];
  return [
    `the permissions maps of the definitions are not enforced; bailiwick policies from-permissions --apply makes the ${missing} policies that mean the same`,
  ];
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
