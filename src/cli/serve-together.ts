import type { Settings } from '../settings.ts';
import { describeStart } from './start-lines.ts';
import { listenToSignals } from './stop.ts';
import type { CliWorld } from './world.ts';

/**
 * Serves with several processes, which this one leads: it lets tables follow, says once what there is to say, and passes signals on.
 * SIGUSR2 replaces the workers, one after the other.
 */
export async function serveTogether(world: CliWorld, settings: Settings): Promise<number> {
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
  world: CliWorld,
  settings: Settings,
): Promise<{ readonly notices: readonly string[]; readonly setupToken: string | undefined }> {
  const service = await world.createService(settings);
  try {
    await service.prepare();
    return { notices: service.notices, setupToken: await service.openSetup() };
  } finally {
    await service.close();
  }
}
