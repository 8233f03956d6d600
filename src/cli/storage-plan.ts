import type { CliCommand } from './cli-context.ts';
import { printHeld, printSteps, withTables } from './print-plan.ts';

/** Prints the migration plan without performing it. */
export const storagePlan: CliCommand = {
  name: 'storage plan',
  summary: 'print the migration steps that a start would perform, with their SQL',
  details: 'Performs none of them. The exit code is 1 if a resource cannot be migrated.',
  settings: 'database',
  flags: { '--json': 'print the plan as JSON' },
  run: (context, config, flags) =>
    withTables(context, config, async (tables) => {
      const plan = await tables.plan();
      if (flags.has('json')) {
        context.print(JSON.stringify(plan, undefined, 2));
        return plan.held.length === 0 ? 0 : 1;
      }
      if (plan.steps.length === 0) context.print('nothing to do: the tables match the definitions');
      printSteps(
        context,
        plan.steps.filter(({ risk }) => risk !== 'blocked'),
      );
      if (plan.steps.length > 0) context.print(`-- plan ${plan.hash}`);
      return printHeld(context, plan);
    }),
};
