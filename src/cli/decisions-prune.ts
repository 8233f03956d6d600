import type { CliCommand, CliFlags, CliPruned } from './cli-context.ts';

/** Removes old entries of the record; only counts them unless told otherwise. */
export const decisionsPrune: CliCommand = {
  name: 'decisions prune',
  summary: 'print how many audit entries are older than a day; with --yes, delete them permanently; the service may be running',
  isOffline: true,
  switches: {
    '--before <day>': 'first day to keep, such as 2026-01-31, in UTC',
    '--older-than <days>': 'keep entries of the last days, such as 90d; give this or --before',
    '--yes': 'permanently delete the older entries; no backup is made',
  },
  async run(world, settings, switches) {
    const isSure = switches.has('yes');
    const options = { before: readText(switches, 'before'), olderThan: readText(switches, 'olderThan'), isSure };
    const pruned = await world.pruneDecisions(settings, options);
    world.print(describe(pruned, isSure));
    if (!isSure && pruned.entries > 0) world.print('-- nothing was dropped: do it with --yes');
    return 0;
  },
};

function readText(switches: CliFlags, name: string): string | undefined {
  const given = switches.get(name);
  return typeof given === 'string' ? given : undefined;
}

function describe({ before, entries, chains }: CliPruned, isSure: boolean): string {
  if (entries === 0) return `no entries are from before ${before}`;
  return `${entries} entries of ${chains} chains, from before ${before}, ${isSure ? 'are pruned' : 'would be dropped for good'}; hourly counts stay`;
}
