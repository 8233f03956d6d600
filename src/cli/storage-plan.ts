import type { CliCommand, CliWorld, StoragePlan } from './world.ts';

/** Shows what would be done to tables so that they follow the definitions, and does none of it. */
export const storagePlan: CliCommand = {
  name: 'storage plan',
  summary: 'print the steps that would make tables follow the definitions, and their SQL, without doing them',
  async run(world, settings) {
    const service = await world.createService(settings);
    try {
      const plan = await service.storagePlan();
      printPlan(world, plan);
      return plan.refusals.length === 0 ? 0 : 1;
    } finally {
      await service.close();
    }
  },
};

function printPlan(world: CliWorld, { steps, refusals }: StoragePlan): void {
  if (steps.length === 0 && refusals.length === 0) world.print('nothing to do: tables follow the definitions');
  for (const { resource, reason, sql } of steps) {
    world.print(`-- ${resource}: ${reason}`);
    for (const statement of sql) world.print(`${statement.replace(/;?\s*$/, '')};`);
  }
  for (const { resource, reason } of refusals) world.printError(`refused for ${resource}: ${reason}`);
}
