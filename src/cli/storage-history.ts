import type { CliCommand, StorageMigration } from './cli-context.ts';
import { withTables } from './print-plan.ts';

/** Evolutions that are shown, the newest. */
const SHOWN = 100;

/** Shows what was done to tables, when and by whom. */
export const storageHistory: CliCommand = {
  name: 'storage history',
  summary: `print the last ${SHOWN} migrations of the tables`,
  isOffline: true,
  switches: { '--json': 'print them as JSON' },
  run: (world, settings, switches) =>
    withTables(world, settings, async (tables) => {
      const history = await tables.history(SHOWN);
      if (switches.has('json')) world.print(JSON.stringify(history, undefined, 2));
      else if (history.length === 0) world.print('nothing was done yet');
      else for (const line of history.flatMap(describe)) world.print(line);
      return 0;
    }),
};

function describe({ at, actor, planHash, durationMs, steps }: StorageMigration): readonly string[] {
  const plan = planHash === '' ? '' : `, plan ${planHash.slice(0, 12)}`;
  return [`${at}  by ${actor}, in ${durationMs} ms${plan}`, ...steps.map((step) => `  ${describeStep(step)}`)];
}

/** A backup and a restore are of everything. */
function describeStep({ resource, risk, reason }: StorageMigration['steps'][number]): string {
  return resource === '*' ? String(reason) : `${String(resource)}, ${String(risk)}: ${String(reason)}`;
}
