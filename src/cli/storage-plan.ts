import type { CliCommand } from './cli-context.ts';
import { printHeld, printSteps, withTables } from './print-plan.ts';

/** Shows what would be done to tables so that they follow the definitions, and does none of it. */
export const storagePlan: CliCommand = {
  name: 'storage plan',
  summary: 'print the migration steps that the definitions ask for, with their SQL, without performing them',
  isOffline: true,
  switches: { '--json': 'print the plan as JSON' },
  run: (world, settings, switches) =>
    withTables(world, settings, async (tables) => {
      const plan = await tables.plan();
      if (switches.has('json')) {
        world.print(JSON.stringify(plan, undefined, 2));
        return plan.held.length === 0 ? 0 : 1;
      }
      if (plan.steps.length === 0) world.print('nothing to do: tables follow the definitions');
      printSteps(
        world,
        plan.steps.filter(({ risk }) => risk !== 'blocked'),
      );
      if (plan.steps.length > 0) world.print(`-- plan ${plan.hash}`);
      return printHeld(world, plan);
    }),
};
