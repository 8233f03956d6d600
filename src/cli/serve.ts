import { SetupError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { serveTogether } from './serve-together.ts';
import { describeStart } from './start-lines.ts';
import { listenToSignals } from './stop.ts';
import type { CliService, CliWorld } from './world.ts';

/** Serves until SIGTERM or SIGINT, then drains, commits and answers 0; a second signal answers 1 at once. */
export async function serve(world: CliWorld, settings: Settings, options: { readonly watch: boolean }): Promise<number> {
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
  { world, settings, watch }: { world: CliWorld; settings: Settings; watch: boolean },
): Promise<void> {
  const { url } = await service.listen();
  if (world.lead !== undefined) return world.lead.ready(url);
  if (watch) service.watch(world.print);
  const setupToken = await service.openSetup();
  for (const line of describeStart(settings, { url, isFollowing: watch, notices: service.notices, setupToken })) world.print(line);
}
