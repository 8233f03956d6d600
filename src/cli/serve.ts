import type { Settings } from '../settings.ts';
import type { CliService, CliWorld, StopSignal } from './world.ts';

/** A terminal's Ctrl-C reaches us directly and again through npm: what comes this soon is the same signal. Milliseconds. */
const SAME_SIGNAL = 500;

/** Serves until SIGTERM or SIGINT, then drains, commits and answers 0; a second signal answers 1 at once. */
export async function serve(world: CliWorld, settings: Settings, options: { readonly watch: boolean }): Promise<number> {
  const stop = createStop(world);
  try {
    const service = await world.createService(settings);
    try {
      // Another process may be at work on the tables, for long: a start that waits for it can be stopped.
      await Promise.race([open(service, { world, settings, watch: options.watch }), stop.first]);
      await stop.first;
    } catch (error) {
      await service.close();
      throw error;
    }
    return await Promise.race([service.close().then(() => 0), stop.second.then(() => 1)]);
  } finally {
    stop.forget();
  }
}

async function open(
  service: CliService,
  { world, settings, watch }: { world: CliWorld; settings: Settings; watch: boolean },
): Promise<void> {
  const { url } = await service.listen();
  if (watch) service.watch(world.print);
  for (const line of await describeStart(service, settings, { url, watch })) world.print(line);
}

async function describeStart(
  service: CliService,
  settings: Settings,
  { url, watch }: { readonly url: string; readonly watch: boolean },
): Promise<readonly string[]> {
  const lines = [
    `bailiwick listens on ${url}`,
    `  project   ${settings.project}${watch ? ' (following its files)' : ''}`,
    `  database  ${showDatabase(settings.database)}`,
    `  API page  ${url}/docs`,
    ...service.notices,
  ];
  if (await service.needsSetup()) {
    const body = '{"name":"Ada","email":"ada@example.com","password":"choose-a-password"}';
    lines.push('no admin exists yet; make one with', `  curl -X POST ${url}/auth/setup -H 'content-type: application/json' -d '${body}'`);
  }
  return lines;
}

interface Stop {
  /** Resolves with the first signal. */
  readonly first: Promise<void>;
  /** Resolves with a further one. */
  readonly second: Promise<void>;
  forget(): void;
}

function createStop({ signals }: CliWorld): Stop {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      first.resolve();
    } else if (now - firstAt > SAME_SIGNAL) second.resolve();
  };
  const names: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];
  for (const name of names) signals.on(name, onSignal);
  const forget = (): void => {
    for (const name of names) signals.off(name, onSignal);
  };
  return { first: first.promise, second: second.promise, forget };
}

/** The place of a database as people may see it: without a password, and without what stands behind the `?`. */
function showDatabase(database: string): string {
  if (database.startsWith('sqlite:') || !URL.canParse(database)) return database;
  const url = new URL(database);
  url.password = '';
  url.search = '';
  return url.href;
}
