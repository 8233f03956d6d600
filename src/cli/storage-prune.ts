import { printSteps, withTables } from './storage-print.ts';
import type { CliCommand } from './world.ts';

/** Drops what is kept aside; only shows it unless told otherwise. */
export const storagePrune: CliCommand = {
  name: 'storage prune',
  summary: 'print what is kept aside of removed fields, resources and types, and how much of it there is',
  switches: { '--yes': 'drop it for good' },
  run: (world, settings, switches) =>
    withTables(world, settings, async (tables) => {
      const isSure = switches.has('yes');
      const steps = isSure ? await tables.prune() : (await tables.planPrune()).steps;
      printSteps(world, steps);
      if (steps.length === 0) world.print('nothing is kept aside');
      else world.print(isSure ? '-- dropped' : '-- nothing was dropped: do it with --yes');
      return 0;
    }),
};
