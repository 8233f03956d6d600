import type { PrunedDecisions } from '../project/index.ts';
import type { CliCommand, CliFlags } from './cli-context.ts';

/** Deletes old audit entries; without `--yes`, only counts them. */
export const decisionsPrune: CliCommand = {
  name: 'decisions prune',
  summary: 'delete old audit entries; without --yes, only count them',
  details: 'Give --before or --older-than. Hourly counts are kept. The service may be running.',
  settings: 'auditLog',
  flags: {
    '--before <day>': 'first day to keep, in UTC, such as 2026-01-31',
    '--older-than <days>': 'number of days to keep, such as 90d',
    '--yes': 'delete the older entries permanently, without a backup',
  },
  async run(context, config, flags) {
    const isSure = flags.has('yes');
    const options = { before: optionalText(flags, 'before'), olderThan: optionalText(flags, 'olderThan'), isSure };
    const pruned = await context.pruneDecisions(config, options);
    context.print(describe(pruned, isSure));
    if (!isSure && pruned.entries > 0) context.print('nothing was deleted; run again with --yes to delete');
    return 0;
  },
};

function optionalText(flags: CliFlags, name: string): string | undefined {
  const given = flags.get(name);
  return typeof given === 'string' ? given : undefined;
}

function describe({ before, entries, chains }: PrunedDecisions, isSure: boolean): string {
  if (entries === 0) return `no entries are older than ${before}`;
  return `${entries} entries of ${chains} chains, older than ${before}, ${isSure ? 'were' : 'would be'} deleted; hourly counts are kept`;
}
