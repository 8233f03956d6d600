/**
 * The composition root: creates every component and connects them, in the order definitions, database, tables, authentication, routes,
 * server. No other module sees the whole configuration.
 */
import {
  type AdminDeps,
  type ApiDeps,
  createAdminRoutes,
  createApiRoutes,
  createAuthRoutes,
  createDecisionStreams,
  createOpenApiRoute,
  grantFullAccess,
  prepareRequests,
  prepareRequestsLater,
  type StreamsOptions,
  withExplanationHints,
} from './api/index.ts';
import { createDenialWindows } from './audit/index.ts';
import type { Checkpoints } from './audit/integrity/index.ts';
import { createAuditMaintenance } from './audit/maintenance.ts';
import { createAuthentication, deriveKey, type HashCosts, loadTokenKey } from './authn/index.ts';
import { createPolicyStore, type PolicyStore, type RevisionedDatabase, withRevisions } from './authz/index.ts';
import {
  toAllowedHosts,
  toAuditMaintenanceOptions,
  toAuthenticationOptions,
  toDiskSpaceOptions,
  toHttpLimits,
  toImportLimits,
  toMonitoringOptions,
  toPipelineOptions,
  toPolicyLimits,
  toPolicyStoreOptions,
  toPrimaryOptions,
  toRequestLimits,
  toSystemOptions,
} from './component-options.ts';
import type { Config } from './config/index.ts';
import { SetupError } from './errors.ts';
import { createHttpServer, HTTP_ENDPOINTS, type HttpServer } from './http/index.ts';
import { createMonitoring, type Monitoring } from './observability/monitoring.ts';
import { createReadiness, type ReadinessProbe } from './observability/readiness.ts';
import { PACKAGE_FOLDER } from './package-folder.ts';
import { createDiskSpace, createSystemSource, type DiskSpace, openProjectDatabase, readProject } from './project/index.ts';
import type { Route } from './request/index.ts';
import type { Resource } from './resources/index.ts';
import { createServiceCommands, type ServiceCommands } from './service-commands.ts';
import { createPreparation } from './service-preparation.ts';
import type { BatchLimits, Log } from './storage/index.ts';
import type { Primary, PrimaryLink, PrimaryOptions, WorkerRequestHandlers } from './workers/index.ts';

/** A service. It accepts requests after `listen`. */
export interface Service extends ServiceCommands {
  /** Lines for the operator, such as performed migrations; complete when the service listens. */
  readonly notices: readonly string[];
  /** Migrates the tables to the definitions; `listen` does this too. @throws SetupError if it fails. */
  prepare(): Promise<void>;
  /** Migrates the tables, then listens. @throws SetupError if it fails, and in a second call: a service listens once. */
  listen(): Promise<{ readonly url: string }>;
  /** Creates a setup token to be printed. Returns undefined if an admin exists or setup is off. */
  openSetup(): Promise<string | undefined>;
  /** Applies the policies in files, reloads them and the definitions when files change, and logs each change. */
  watch(log: (line: string) => void): Promise<void>;
  /** Finishes the requests in flight, commits, and closes the server and the database. */
  close(how?: ServiceEnd): Promise<void>;
}

/** Options of a shutdown. */
export interface ServiceEnd {
  /** Set if another process takes over the address: `/readyz` then keeps reporting ready. */
  readonly isReplaced?: boolean;
}

/** Options of a service that are not part of its configuration. */
export interface ServiceOptions {
  /** Receives lines about long operations and about backups. */
  readonly log?: Log;
  /** @deprecated Use `log`. Accepted for one version. */
  readonly tell?: Log;
  /** The connection to the primary, if this process is a worker. */
  readonly primary?: PrimaryLink | undefined;
  /** Set by `bailiwick dev`: denials contain the address of their explanation. */
  readonly isDevelopment?: boolean | undefined;
  /** The version of the program; undefined if another program runs the service. */
  readonly version?: string | undefined;
  /** Costs of password hashes. Lower ones than the default are for tests. */
  readonly passwordCosts?: HashCosts | undefined;
  /** The folder of the built console, with a `/` at the end. Others than the default are for tests. */
  readonly consoleFolder?: URL | undefined;
  /** Days for which partitions of the audit log exist in advance. Fewer than the default are for tests. */
  readonly daysInAdvance?: number | undefined;
  /** Options of the streams of audit entries. Others than the default are for tests. */
  readonly streams?: Partial<StreamsOptions> | undefined;
  /** Time limits of units of work on SQLite. Others than the default are for tests. */
  readonly timeLimits?: BatchLimits | undefined;
}

/** The build of the console, in the checkout and in the package. */
const CONSOLE_FOLDER = new URL('dist/console/', PACKAGE_FOLDER);

/** The JSON Schemas for editors, in the checkout and in the package. */
const SCHEMA_FOLDER = new URL('docs/reference/', PACKAGE_FOLDER);

/** Creates a service. @throws SetupError with every mistake of every definition file. */
export async function createService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const { tell, log = tell, primary, isDevelopment = false, passwordCosts, daysInAdvance, version, streams, timeLimits } = options;
  const definitions = readProject(config.project);
  const monitor = await createMonitoring({ ...toMonitoringOptions(config), version }, primary);
  const opened = await openProjectDatabase(config, { observer: monitor.metrics, log, timeLimits });
  const policyStore = createPolicyStore(definitions, toPolicyStoreOptions(config, log));
  const database = withRevisions(opened, policyStore, log);
  const notices: string[] = [];
  const disk = createDiskSpace({ ...toDiskSpaceOptions(config), database: opened, log });
  const readiness = createReadiness({ database, policyStore, disk, prepare: prepareRequests });
  const deps = createApiDeps(config, { database, policyStore, monitor, disk, passwordCosts });
  const auditMaintenance = createAuditMaintenance(toAuditMaintenanceOptions(config), { ...deps, log, daysInAdvance });
  const admin = createAdminDeps(config, { ...deps, checkpoints: auditMaintenance.checkpoints, disk, version, primary, streams });
  setMetricsSource(monitor, { database, disk, policyStore, streams: admin.streams });
  const server = createServer(config, { isDevelopment, deps, admin, monitor, readiness, consoleFolder: options.consoleFolder });
  const { migrate, prepare } = createPreparation(definitions, { ...deps, opened, auditMaintenance, log, notices });
  primary?.handleRequests(toRequestHandlers(server, monitor, readiness));
  let mayNotListen = false;
  let stopWatching = (): void => undefined;
  return {
    notices,
    prepare,
    async listen() {
      if (mayNotListen) throw new SetupError('this service has listened or is closed; create another one');
      mayNotListen = true;
      await prepare();
      notices.push(...(await deps.identity.noteTokenKey()), ...(await monitor.open(() => readiness.check())));
      for (const component of [disk, auditMaintenance, database.roleLoading]) await component.start();
      return listenAt(server, config).catch(async (error: unknown) => {
        await monitor.close();
        throw error;
      });
    },
    openSetup: () => deps.identity.openSetup(),
    async watch(log) {
      stopWatching = await (await import('./development.ts')).developProject(config, { database: opened, policyStore, admin }, log);
    },
    ...createServiceCommands({ deps, admin }, () => migrate('refuse')),
    async close({ isReplaced = false } = {}) {
      mayNotListen = true;
      stopWatching();
      if (!isReplaced) readiness.stop();
      admin.streams.close();
      await server.close(isReplaced ? { delaySeconds: HANDOVER_SECONDS } : { released: primary?.released });
      for (const component of [monitor, disk, auditMaintenance, database.roleLoading, database]) await component.close();
      primary?.sendFinalMetrics((await monitor.metrics?.values()) ?? []);
      await monitor.flushSpans().catch((error: unknown) => log?.(`the last spans were not exported: ${(error as Error).message}`));
    },
  };
}

type MetricsComponents = Pick<ApiComponents, 'database' | 'policyStore' | 'disk'> & Pick<AdminDeps, 'streams'>;

function setMetricsSource(monitor: Monitoring, { database, policyStore, disk, streams }: MetricsComponents): void {
  monitor.metrics?.setSource({ database: () => database.metrics, disk, revision: policyStore.revision, streams: () => streams.metrics });
}

function toRequestHandlers(server: HttpServer, monitor: Monitoring, readiness: ReadinessProbe): WorkerRequestHandlers {
  return {
    metrics: async () => monitor.metrics?.values() ?? [],
    readiness: () => readiness.check(),
    accepted: async () => server.accepted,
  };
}

/** Seconds in which a replaced worker answers one more request per open connection, with `Connection: close`. */
const HANDOVER_SECONDS = 1;

/** Creates the primary, which starts workers that each run a service with the settings of `config`, including those of `envFile`. */
export async function createPrimaryService(
  config: Config,
  { log, envFile }: Pick<PrimaryOptions, 'envFile'> & { log: Log },
): Promise<Primary> {
  return (await import('./workers/index.ts')).createPrimary({ ...toPrimaryOptions(config), envFile }, log);
}

interface ApiComponents {
  readonly database: RevisionedDatabase;
  readonly policyStore: PolicyStore;
  readonly monitor: Monitoring;
  readonly disk: DiskSpace;
  readonly passwordCosts: HashCosts | undefined;
}

function createApiDeps(config: Config, { database, policyStore, monitor, disk, passwordCosts }: ApiComponents): ApiDeps {
  const key = loadTokenKey({ algorithm: config.jwtAlgorithm, secret: config.jwtSecret, dataFolder: config.data });
  const identity = createAuthentication({
    database,
    key,
    options: { ...toAuthenticationOptions(config), passwordCosts },
    disk,
    userDefinition: () => policyStore.definitions.get('User') as Resource,
    onFirstAdmin: grantFullAccess,
  });
  return {
    database,
    identity,
    policyStore,
    options: toPipelineOptions(config, { encryption: deriveKey(key, 'cursors'), signature: deriveKey(key, 'cursor signatures') }),
    limits: toRequestLimits(config),
    importBounds: toImportLimits(config),
    auditMode: config.auditMode,
    denialWindows: config.denialWindowSeconds === 0 ? undefined : createDenialWindows({ seconds: config.denialWindowSeconds }),
    disk,
    observer: monitor.metrics,
  };
}

interface ServerComponents {
  readonly deps: ApiDeps;
  readonly admin: AdminDeps;
  readonly monitor: Monitoring;
  readonly readiness: ReadinessProbe;
  readonly isDevelopment: boolean;
  readonly consoleFolder: URL | undefined;
}

interface AdminComponents extends ApiDeps, Pick<ServiceOptions, 'version' | 'primary' | 'streams'> {
  readonly checkpoints: Checkpoints;
  readonly disk: DiskSpace;
}

function createAdminDeps(
  config: Config,
  { database, identity, policyStore, importBounds, checkpoints, disk, version, primary, streams }: AdminComponents,
): AdminDeps {
  return {
    database,
    identity,
    policyStore,
    limits: toPolicyLimits(config),
    checkpoints,
    streams: createDecisionStreams(database, streams),
    system: createSystemSource({ ...toSystemOptions(config), version, disk, primary }),
    importPolicies: config.importPolicies,
    importBounds,
    milliseconds: config.adminMilliseconds,
    pageBytes: config.answerBytes,
    timeZone: config.timezone,
    ifMatch: config.ifMatch,
    auditMode: config.auditMode,
    readDefinitions: () => readProject(config.project),
  };
}

function createServer(
  config: Config,
  { deps, admin, monitor, readiness, isDevelopment, consoleFolder = CONSOLE_FOLDER }: ServerComponents,
): HttpServer {
  const api = createApiRoutes(deps);
  return createHttpServer({
    routes: [
      ...(isDevelopment ? withExplanationHints(api) : api),
      ...createAuthRoutes(deps, { hasSetup: config.setup !== 'off' }),
      ...createAdminRoutes(admin),
      ...descriptionRoutes(config, deps),
      ...monitor.routes,
    ],
    limits: toHttpLimits(config),
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    allowedHosts: toAllowedHosts(config),
    logLevel: config.logLevel,
    accessLog: config.accessLog === 'on',
    pages: config.docs === 'off' ? 'errors' : 'all',
    schemaFolder: config.docs === 'off' ? undefined : SCHEMA_FOLDER,
    consoleFolder: config.console === 'off' ? undefined : consoleFolder,
    ready: () => readiness.check(),
    recordRefusedToken: (problem, origin) => deps.identity.recordRefusedToken(problem, origin),
    ...monitor.observers,
  });
}

function descriptionRoutes({ docs, setup }: Config, deps: ApiDeps): readonly Route[] {
  return docs === 'off' ? [] : [createOpenApiRoute(deps, { docs, hasSetup: setup !== 'off', others: HTTP_ENDPOINTS })];
}

async function listenAt(server: HttpServer, { host, port }: Config): ReturnType<HttpServer['listen']> {
  const listening = await server.listen({ host, port });
  prepareRequestsLater();
  return listening;
}
