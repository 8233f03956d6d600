import type { MigrationRecord } from '../storage/index.ts';
import type { CliCommand } from './cli-context.ts';
import { withTables } from './print-plan.ts';

/** Maximum number of migrations that are printed. */
const LIMIT = 100;

/** Lists the applied migrations. */
export const storageHistory: CliCommand = {
  name: 'storage history',
  summary: `list the last ${LIMIT} migrations of the tables`,
  settings: 'database',
  flags: { '--json': 'print them as JSON' },
  run: (context, config, flags) =>
    withTables(context, config, async (tables) => {
      const history = await tables.history(LIMIT);
      if (flags.has('json')) context.print(JSON.stringify(history, undefined, 2));
      else if (history.length === 0) context.print('no migrations were applied yet');
      else for (const line of history.flatMap(describe)) context.print(line);
      return 0;
    }),
};

function describe({ at, actor, planHash, durationMs, steps }: MigrationRecord): readonly string[] {
  const plan = planHash === '' ? '' : `, plan ${planHash.slice(0, 12)}`;
  return [`${at}  by ${actor}, in ${durationMs} ms${plan}`, ...steps.map((step) => `  ${describeStep(step)}`)];
}

/** Describes a migration step. The step of a backup or restore has the resource `*`, and only its reason is printed. */
function describeStep({ resource, risk, reason }: MigrationRecord['steps'][number]): string {
  return resource === '*' ? reason : `${resource}, ${risk}: ${reason}`;
}
