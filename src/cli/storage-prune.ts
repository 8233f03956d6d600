import { SetupError } from '../errors.ts';
import type { CliCommand, CliFlags, StoredDeleted } from './cli-context.ts';
import { printSteps, withTables } from './print-plan.ts';

/** Permanently deletes archived tables and columns, and soft-deleted records older than `--deleted-before`; without `--yes` it only prints them. */
export const storagePrune: CliCommand = {
  name: 'storage prune',
  summary:
    'print the archived tables and columns of removed fields and resources, and the number of soft-deleted records; with --yes, delete the archived ones permanently',
  isOffline: true,
  switches: {
    '--yes': 'permanently delete archived tables and columns; soft-deleted records are kept unless --deleted-before is given',
    '--deleted-before <days>': 'with --yes, also permanently delete records that were soft-deleted more than this number of days ago',
  },
  run: (world, settings, switches) => {
    const deletedBefore = readDays(switches);
    return withTables(world, settings, async (tables) => {
      const isSure = switches.has('yes');
      const deleted = await tables.deletedRecords();
      const steps = isSure ? await tables.prune({ deletedBefore }) : (await tables.planPrune({ deletedBefore })).steps;
      for (const each of deleted) world.print(describe(each));
      printSteps(world, steps);
      const drops = steps.some(({ risk }) => risk !== 'blocked');
      if (drops) world.print(isSure ? '-- dropped' : '-- nothing was dropped: do it with --yes');
      else if (deleted.length === 0) world.print('nothing is kept aside');
      else if (steps.length === 0)
        world.print('nothing else is kept aside; deleted records are dropped with --deleted-before <days> --yes');
      return 0;
    });
  },
};

const MOST_DAYS = 36_500;

function readDays(switches: CliFlags): number | undefined {
  const given = switches.get('deletedBefore');
  if (given === undefined) return undefined;
  const days = typeof given === 'string' && /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (days <= MOST_DAYS) return days;
  throw new SetupError(`--deleted-before: expected a whole number of days from 0 to ${MOST_DAYS}, given ${JSON.stringify(given)}`);
}

function describe({ resource, count, oldest, newest }: StoredDeleted): string {
  const what = `-- ${resource}: ${count} deleted ${count === 1 ? 'record is' : 'records are'} kept`;
  return count === 1 ? `${what}, of ${oldest}` : `${what}, the oldest of ${oldest}, the newest of ${newest}`;
}
