import type { ComparedChange } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag } from './flags.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

/** Prints the changes of policies. */
export const policiesHistory: CliCommand = {
  name: 'policies history',
  summary: 'print the changes of policies and their assignments, newest first',
  details: 'The service may be running. Nothing is written, not even an audit entry.',
  settings: 'database',
  parameters: { '[policy]': 'name or id of a policy, also of a deleted one by its id (default: all policies)' },
  flags: {
    '--limit <number>': `maximum number of changes, up to ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`,
    '--json': 'print the changes as JSON, one per line',
  },
  async run(context, config, flags) {
    const limit = parseLimit(findFlag(flags, 'limit') ?? String(DEFAULT_LIMIT));
    const history = await context.openPolicyHistory(config);
    try {
      const changes = await history.last({ policy: findFlag(flags, 'policy'), limit });
      for (const change of changes) for (const line of flags.has('json') ? [JSON.stringify(change)] : describe(change)) context.print(line);
      return 0;
    } finally {
      await history.close();
    }
  },
};

function parseLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= MAX_LIMIT) return limit;
  throw new SetupError(`--limit: expected a number from 1 to ${MAX_LIMIT}, given ${JSON.stringify(text.slice(0, 40))}`);
}

function describe({
  revision,
  at,
  by,
  policy,
  reason,
  rolledBackTo,
  change,
  subject,
  summary,
  differences,
}: ComparedChange): readonly string[] {
  const author = by === undefined ? '' : ` by ${by.name ?? by.id}`;
  const given = reason === undefined ? '' : ` (${reason})`;
  const rollback = rolledBackTo === undefined ? '' : `, rolled back to revision ${rolledBackTo}`;
  const what = subject === 'policy' ? change : 'assignment';
  const meanings = differences.length > 0 ? differences.map(({ meaning }) => meaning) : [summary];
  return [
    `revision ${revision}, ${at}: ${what} ${JSON.stringify(policy.name ?? policy.id)}${author}${rollback}${given}`,
    ...meanings.map((line) => `  ${line}`),
  ];
}
