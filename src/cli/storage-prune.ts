import { SetupError } from '../errors.ts';
import { printSteps, withTables } from './storage-print.ts';
import type { CliCommand, StoredDeleted, Switches } from './world.ts';

/** Drops what is kept aside, and deleted records where it is said how old; only shows both unless told otherwise. */
export const storagePrune: CliCommand = {
  name: 'storage prune',
  summary: 'print what is kept aside of removed fields, resources and types, and of deleted records, and how much of it there is',
  isOffline: true,
  switches: {
    '--yes': 'drop it for good, save deleted records',
    '--deleted-before <days>': 'records too that were deleted more than so many days ago',
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

function readDays(switches: Switches): number | undefined {
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
