import { type Config, toSetup } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { CliCommand, CliContext } from './cli-context.ts';
import { listenToSignals } from './signals.ts';

/** Starts the service. */
export const start: CliCommand = {
  name: 'start',
  summary: 'start the service',
  details: 'Migrates the tables to the definitions, then listens until SIGTERM or SIGINT.',
  serves: true,
  run: (context, config) => serve(context, config, { watch: false }),
};

/** Serves until SIGTERM or SIGINT, then shuts down and returns 0; a second signal returns 1 at once. */
export async function serve(context: CliContext, config: Config, options: { readonly watch: boolean }): Promise<number> {
  if (config.workers > 1 && options.watch) throw new SetupError('workers: expected 1 with bailiwick dev; use bailiwick start for more');
  if (config.workers > 1 && context.primary === undefined) return serveWithWorkers(context, config);
  const stop = listenToSignals(context, () => {
    // The primary replaces its workers, so a worker ignores SIGUSR2.
    if (context.primary === undefined)
      context.printError('SIGUSR2 was ignored: a single process cannot be replaced; start with --workers 2 or more');
  });
  try {
    // Connecting to a server that does not respond can take long; a signal ends the wait.
    const service = await Promise.race([context.createService(config, { isDevelopment: options.watch }), stop.first.then(() => undefined)]);
    if (service === undefined) return 0;
    try {
      // A migration by another process can take long; a signal ends the wait.
      await Promise.race([open(service, { context, config, watch: options.watch }), stop.first]);
      await stop.first;
    } catch (error) {
      await service.close();
      throw error;
    }
    return await Promise.race([service.close(await stop.first).then(() => 0), stop.second.then(() => 1)]);
  } finally {
    stop.stopListening();
  }
}

async function open(service: Service, { context, config, watch }: { context: CliContext; config: Config; watch: boolean }): Promise<void> {
  const { url } = await service.listen();
  if (context.primary !== undefined) return context.primary.ready(url, service.notices);
  const setupToken = await service.openSetup();
  for (const line of describeStart(config, { url, isWatching: watch, notices: service.notices, setupToken })) context.print(line);
  if (watch) await service.watch(context.print);
}

/** Serves with several workers. This process, the primary, migrates the tables, prints the start lines and passes signals on. */
async function serveWithWorkers(context: CliContext, config: Config): Promise<number> {
  const primary = await context.createPrimary(config);
  let isServing = false;
  const stop = listenToSignals(context, () => {
    if (isServing) void primary.restart();
  });
  try {
    const begin = async (): Promise<void> => {
      const prepared = await prepare(context, config);
      const { url, notices } = await primary.start();
      // The workers repeat notices of this process, such as a refused migration.
      const distinct = [...new Set([...prepared.notices, ...notices])];
      const started = { url, isWatching: false, notices: distinct, setupToken: prepared.setupToken };
      for (const line of describeStart(config, started)) context.print(line);
      isServing = true;
    };
    await Promise.race([begin(), stop.first]);
    await stop.first;
    return await Promise.race([primary.close().then(() => 0), stop.second.then(() => 1)]);
  } finally {
    // Workers can still run if the start failed or a second signal came.
    primary.kill();
    stop.stopListening();
  }
}

/** Runs the start steps once, so that the workers need not repeat them. Uses a service of the primary, which is closed before the workers start. */
async function prepare(
  context: CliContext,
  config: Config,
): Promise<{ readonly notices: readonly string[]; readonly setupToken: string | undefined }> {
  const service = await context.createService(config);
  try {
    await service.prepare();
    return { notices: service.notices, setupToken: await service.openSetup() };
  } finally {
    await service.close();
  }
}

interface Started {
  readonly url: string;
  readonly isWatching: boolean;
  readonly notices: readonly string[];
  /** The setup token; undefined if an admin exists or setup is off. */
  readonly setupToken: string | undefined;
}

/** Returns the lines that a start prints. A setup token is shown only in these lines. */
function describeStart(config: Config, { url, isWatching, notices, setupToken }: Started): readonly string[] {
  const lines = [
    `bailiwick listens on ${url}`,
    ...(config.console === 'off' ? [] : [`  console   ${url}/console/`]),
    `  project   ${config.project}${isWatching ? ' (reloads definitions and policies when their files change)' : ''}`,
    `  database  ${toPrintableAddress(config.database)}`,
    ...(config.workers > 1 ? [`  workers   ${config.workers}`] : []),
    ...(config.docs === 'off' ? [] : [`  API page  ${url}/docs`]),
    ...notices,
  ];
  if (setupToken === undefined) return lines;
  return [...lines, ...describeSetup(config, url, setupToken), ...(toSetup(config) === 'loopback' ? [LOOPBACK_SETUP] : [])];
}

/** Returns the lines that show how to create the first admin. The token is in the fragment of the link, which browsers do not send. */
function describeSetup(config: Config, url: string, token: string): readonly string[] {
  const body = `{"token":"${token}","name":"Ada","email":"ada@example.com","password":"choose-a-password"}`;
  const request = `  curl -X POST ${url}/auth/setup -H 'content-type: application/json' -d '${body}'`;
  if (config.console === 'off') return ['no admin exists yet; create one with', request];
  return ['no admin exists yet; create one in the console', `  ${url}/console/setup#token=${token}`, 'or with', request];
}

/** A line for the start with open setup, printed because requests from some proxies on this machine are indistinguishable from local ones. */
const LOOPBACK_SETUP = '  requests from this machine need no token; behind a reverse proxy on this machine, start with --setup token';

/** Returns the address of a database without password and parameters. */
function toPrintableAddress(database: string): string {
  if (database.startsWith('sqlite:') || !URL.canParse(database)) return database;
  const url = new URL(database);
  url.password = '';
  url.search = '';
  return url.href;
}
