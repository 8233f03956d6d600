import type { CliCommand } from './cli-context.ts';
import { printHeld, withTables } from './print-plan.ts';

/** Makes tables follow the definitions, a running service's too: it takes over what changed with its next request. */
export const storageApply: CliCommand = {
  name: 'storage apply',
  summary: 'migrate the tables to the definitions, as start does',
  isOffline: true,
  switches: { '--allow <hash>': 'perform lossy steps too, of the plan that has this hash; storage plan prints it' },
  run: (world, settings, switches) =>
    withTables(world, settings, async (tables) => {
      const allow = switches.get('allow');
      const { plan, done } = await tables.apply({ allow: typeof allow === 'string' ? allow : undefined });
      for (const { resource, reason } of done) world.print(`${resource}: ${reason}`);
      if (done.length === 0) world.print('nothing was done');
      return printHeld(world, plan);
    }),
};
