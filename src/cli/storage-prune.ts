import { SetupError } from '../errors.ts';
import type { DeletedRecords } from '../storage/index.ts';
import type { CliCommand, CliFlags } from './cli-context.ts';
import { printSteps, withTables } from './print-plan.ts';

/** Permanently deletes archived tables and columns, and soft-deleted records older than `--deleted-before`; without `--yes` it only prints them. */
export const storagePrune: CliCommand = {
  name: 'storage prune',
  summary: 'permanently delete archived data; without --yes, only print it',
  details:
    'Archived data are the tables and columns of removed resources and fields. Soft-deleted records are kept unless --deleted-before is given.',
  settings: 'database',
  flags: {
    '--yes': 'permanently delete archived tables and columns',
    '--deleted-before <days>': 'with --yes, also permanently delete records that were soft-deleted more than this number of days ago',
  },
  run: (context, config, flags) => {
    const deletedBefore = parseDays(flags);
    return withTables(context, config, async (tables) => {
      const isSure = flags.has('yes');
      const deleted = await tables.deletedRecords();
      const steps = isSure ? await tables.prune({ deletedBefore }) : (await tables.planPrune({ deletedBefore })).steps;
      for (const each of deleted) context.print(describe(each));
      printSteps(context, steps);
      const drops = steps.some(({ risk }) => risk !== 'blocked');
      if (drops) context.print(isSure ? '-- deleted' : '-- nothing was deleted; run again with --yes to delete');
      else if (deleted.length === 0) context.print('there is no archived data');
      else if (steps.length === 0)
        context.print('there is no archived data; to delete the soft-deleted records, run again with --deleted-before <days> --yes');
      return 0;
    });
  },
};

const MAX_DAYS = 36_500;

function parseDays(flags: CliFlags): number | undefined {
  const given = flags.get('deletedBefore');
  if (given === undefined) return undefined;
  const days = typeof given === 'string' && /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (days <= MAX_DAYS) return days;
  throw new SetupError(`--deleted-before: expected a whole number of days from 0 to ${MAX_DAYS}, given ${JSON.stringify(given)}`);
}

function describe({ resource, count, oldest, newest }: DeletedRecords): string {
  if (count === 1) return `-- ${resource}: 1 soft-deleted record, deleted at ${oldest}`;
  return `-- ${resource}: ${count} soft-deleted records, deleted from ${oldest} to ${newest}`;
}
