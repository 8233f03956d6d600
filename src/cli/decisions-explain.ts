import type { CliCommand } from './cli-context.ts';
import { printEntry } from './decision-flags.ts';
import { requireFlag } from './flags.ts';

/** Explains a decision. */
export const decisionsExplain: CliCommand = {
  name: 'decisions explain',
  summary: 'explain a decision of the audit log',
  details:
    'Prints the entry, each rule that was evaluated, all conditions of the rule that decided, and those of the others that were not true, under the policies of the time of the decision. The id is that of the header X-Decision-Id, or the decisionId of an error. The service may be running.',
  settings: 'database',
  parameters: { '<id>': 'id of the entry' },
  flags: { '--json': 'print the entry and its explanation as JSON' },
  async run(context, config, flags) {
    const log = await context.openDecisions(config);
    try {
      const { entry, lines } = await log.explain(requireFlag(flags, 'id'));
      if (flags.has('json')) context.print(JSON.stringify(entry, undefined, 2));
      else {
        const [labels] = await log.labels([entry]);
        for (const line of [printEntry(entry, labels), ...lines]) context.print(line);
      }
      return 0;
    } finally {
      await log.close();
    }
  },
};
