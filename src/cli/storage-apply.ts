import type { CliCommand } from './cli-context.ts';
import { printHeld, withTables } from './print-plan.ts';

/** Migrates the tables. A running service uses the new definitions from its next request. */
export const storageApply: CliCommand = {
  name: 'storage apply',
  summary: 'migrate the tables to the definitions, as a start does',
  details:
    'Performs the steps that lose no data. A running service uses the new definitions from its next request. Of all commands, only start, dev and storage apply migrate existing tables.',
  settings: 'database',
  flags: { '--allow <hash>': 'also perform the lossy steps of the plan with this hash, which "bailiwick storage plan" prints' },
  run: (context, config, flags) =>
    withTables(context, config, async (tables) => {
      const allow = flags.get('allow');
      const { remaining, done } = await tables.apply({ allow: typeof allow === 'string' ? allow : undefined });
      for (const { resource, reason } of done) context.print(`${resource}: ${reason}`);
      if (done.length === 0) context.print('no steps were performed');
      return printHeld(context, remaining);
    }),
};
