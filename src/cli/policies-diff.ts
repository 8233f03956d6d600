import type { PolicyComparison, ReplayTally } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import { parseDate, parseInstant } from '../operators/index.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { withProgress } from './progress.ts';
import { withService } from './with-service.ts';

const DEFAULT_ENTRIES = 20_000;
const MAX_ENTRIES = 1_000_000;

/** Compares the policies in files with those in force. */
export const policiesDiff: CliCommand = {
  name: 'policies diff',
  summary: 'print what "policies apply" would change, and which recorded decisions would change',
  details:
    'Compares the policies of the folder policies/ with those in force, and decides recorded requests again under both: each with the values that its audit entry has. Stores nothing but an audit entry. The service may be running. Definitions that are not yet migrated are refused with exit code 2.',
  flags: {
    '--as <email>': 'admin whom the audit entry names',
    '--prune': 'compare as "policies apply --prune" would change: without the policies that files no longer contain',
    '--since <time>': 'replay decisions from this date or timestamp on (default: all)',
    '--entries <number>': `maximum number of entries to replay, the newest first (default: ${DEFAULT_ENTRIES})`,
    '--exit-code': 'exit with 1 if something would change',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    const as = requireFlag(flags, 'as');
    const since = parseSince(findFlag(flags, 'since'));
    const maxEntries = parseEntries(findFlag(flags, 'entries') ?? String(DEFAULT_ENTRIES));
    const prune = flags.has('prune');
    const policies = await context.readPolicies(config, { mayBeEmpty: prune });
    return withService(context, { config }, async (service) => {
      const compared = await withProgress(context, (show) => {
        show('comparing the policies and replaying decisions');
        return service.comparePolicies({ as, policies, prune, filter: since === undefined ? {} : { from: since }, maxEntries });
      });
      const { lines: _, ...result } = compared;
      if (flags.has('json')) context.print(JSON.stringify(result, undefined, 2));
      else for (const line of describe(compared, prune)) context.print(line);
      return flags.has('exitCode') && isDifferent(compared, prune) ? 1 : 0;
    });
  },
};

function parseSince(text: string | undefined): string | undefined {
  if (text === undefined || (parseInstant(text) ?? parseDate(text)) !== undefined) return text;
  const expected = 'expected a date such as 2026-01-31 or a timestamp such as 2026-01-31T09:00:00Z';
  throw new SetupError(`--since: ${expected}, given ${JSON.stringify(text.slice(0, 40))}`);
}

function parseEntries(text: string): number {
  const count = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MAX_ENTRIES) return count;
  throw new SetupError(`--entries: expected a number from 1 to ${MAX_ENTRIES}, given ${JSON.stringify(text.slice(0, 40))}`);
}

function isDifferent({ created, updated, assigned, orphanedPolicies, orphanedRoles }: PolicyComparison, prune: boolean): boolean {
  return created + updated + assigned + (prune ? orphanedPolicies.length + orphanedRoles.length : 0) > 0;
}

function describe(compared: PolicyComparison, prune: boolean): readonly string[] {
  const { created, updated, unchanged, assigned, replay } = compared;
  const summary = `${created} to create, ${updated} to update, ${unchanged} unchanged, ${assigned} to assign`;
  const lines = [...compared.lines.slice(0, -1), summary];
  if (!isDifferent(compared, prune)) return lines;
  if (replay === undefined) return [...lines, 'no decision was replayed: more policies differ than one preview can have'];
  return [...lines, ...describeReplay(replay)];
}

function describeReplay({
  examined,
  same,
  allowToDeny,
  denyToAllow,
  changed,
  unknown,
  samples,
  isPartial,
}: ReplayTally): readonly string[] {
  const counts = `${same} same, ${allowToDeny} allow → deny, ${denyToAllow} deny → allow, ${changed} with another condition, ${unknown} unknown`;
  return [
    `${examined} recorded decisions${isPartial ? ', the newest ones' : ''}: ${counts}`,
    ...samples.map(({ change, count, role, resource, action, live, draft, missing = [] }) => {
      const reasons = missing.length > 0 ? `the audit log has no value of ${missing.join(', ')}` : `${live?.reason} → ${draft?.reason}`;
      return `  ${WORDS[change]}, ${count} ×: ${role} ${action} ${resource}: ${reasons}`;
    }),
  ];
}

const WORDS = { allowToDeny: 'allow → deny', denyToAllow: 'deny → allow', changed: 'another condition', unknown: 'unknown' } as const;
