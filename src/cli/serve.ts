import { type Config, toSetup } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import type { CliContext, CliService } from './cli-context.ts';
import { listenToSignals } from './signals.ts';

/** Serves until SIGTERM or SIGINT, then drains, commits and answers 0; a second signal answers 1 at once. */
export async function serve(world: CliContext, settings: Config, options: { readonly watch: boolean }): Promise<number> {
  if (settings.workers > 1 && options.watch) throw new SetupError('workers: expected 1 where definition files are followed as they change');
  if (settings.workers > 1 && world.lead === undefined) return serveTogether(world, settings);
  const stop = listenToSignals(world, () => {
    // Workers hear of it from their lead, when it is their turn.
    if (world.lead === undefined) world.printError('one process cannot be replaced while it serves; --workers makes several of it');
  });
  try {
    // Opening the database may wait long for a server that does not respond; a signal ends the wait.
    const service = await Promise.race([world.createService(settings, { isDevelopment: options.watch }), stop.first.then(() => undefined)]);
    if (service === undefined) return 0;
    try {
      // Another process may be at work on the tables, for long: a start that waits for it can be stopped.
      await Promise.race([open(service, { world, settings, watch: options.watch }), stop.first]);
      await stop.first;
    } catch (error) {
      await service.close();
      throw error;
    }
    return await Promise.race([service.close(await stop.first).then(() => 0), stop.second.then(() => 1)]);
  } finally {
    stop.forget();
  }
}

async function open(
  service: CliService,
  { world, settings, watch }: { world: CliContext; settings: Config; watch: boolean },
): Promise<void> {
  const { url } = await service.listen();
  if (world.lead !== undefined) return world.lead.ready(url);
  if (watch) service.watch(world.print);
  const setupToken = await service.openSetup();
  for (const line of describeStart(settings, { url, isFollowing: watch, notices: service.notices, setupToken })) world.print(line);
}

/**
 * Serves with several processes, which this one leads: it lets tables follow, says once what there is to say, and passes signals on.
 * SIGUSR2 replaces the workers, one after the other.
 */
export async function serveTogether(world: CliContext, settings: Config): Promise<number> {
  const lead = await world.createLead(settings);
  let isServing = false;
  const stop = listenToSignals(world, () => {
    if (isServing) void lead.restart();
  });
  try {
    const begin = async (): Promise<void> => {
      const told = await prepare(world, settings);
      const { url, notices } = await lead.start();
      const started = { url, isFollowing: false, notices: [...told.notices, ...notices], setupToken: told.setupToken };
      for (const line of describeStart(settings, started)) world.print(line);
      isServing = true;
    };
    await Promise.race([begin(), stop.first]);
    await stop.first;
    return await Promise.race([lead.close().then(() => 0), stop.second.then(() => 1)]);
  } finally {
    // Where it did not come so far, or somebody does not want to wait.
    lead.kill();
    stop.forget();
  }
}

/** Runs once the start steps that each worker would repeat, with a service that is closed before the workers begin. */
async function prepare(
  world: CliContext,
  settings: Config,
): Promise<{ readonly notices: readonly string[]; readonly setupToken: string | undefined }> {
  const service = await world.createService(settings);
  try {
    await service.prepare();
    return { notices: service.notices, setupToken: await service.openSetup() };
  } finally {
    await service.close();
  }
}

/** A service that takes requests, as its start lines describe it. */
export interface Started {
  readonly url: string;
  readonly isFollowing: boolean;
  readonly notices: readonly string[];
  /** Undefined where an admin exists, or where set-up is off. */
  readonly setupToken: string | undefined;
}

/** Returns the lines that a start prints. They are the only place where a set-up token is shown. */
export function describeStart(settings: Config, { url, isFollowing, notices, setupToken }: Started): readonly string[] {
  const lines = [
    `bailiwick listens on ${url}`,
    `  project   ${settings.project}${isFollowing ? ' (following its files)' : ''}`,
    `  database  ${showDatabase(settings.database)}`,
    ...(settings.workers > 1 ? [`  workers   ${settings.workers}`] : []),
    ...(settings.docs === 'off' ? [] : [`  API page  ${url}/docs`]),
    ...notices,
  ];
  if (setupToken === undefined) return lines;
  const body = `{"token":"${setupToken}","name":"Ada","email":"ada@example.com","password":"choose-a-password"}`;
  const call = `  curl -X POST ${url}/auth/setup -H 'content-type: application/json' -d '${body}'`;
  return [...lines, 'no admin exists yet; make one with', call, ...(toSetup(settings) === 'loopback' ? [OPEN_TO_THIS_MACHINE] : [])];
}

/** Some proxies on the same machine cannot be told from it, so operators of one must know. */
const OPEN_TO_THIS_MACHINE = '  calls of this machine need no token; behind a proxy on this machine, start with --setup token';

/** The place of a database as people may see it: without a password, and without what stands behind the `?`. */
function showDatabase(database: string): string {
  if (database.startsWith('sqlite:') || !URL.canParse(database)) return database;
  const url = new URL(database);
  url.password = '';
  url.search = '';
  return url.href;
}
