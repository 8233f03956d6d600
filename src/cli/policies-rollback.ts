import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { POLICY_CHANGE_FLAGS } from './import-policies.ts';

/** Restores a past version of a policy. */
export const policiesRollback: CliCommand = {
  name: 'policies rollback',
  summary: 'restore the version of a policy that was in force at a revision',
  details:
    '"policies history" lists the revisions. A rollback is a new revision with an audit entry, so it can be rolled back too. Assignments stay as they are. A policy that files manage is not changed: the command prints the differences, and the file must be changed.',
  parameters: { '<policy>': 'name or id of the policy, of a deleted one its id' },
  flags: {
    '--to <revision>': 'revision to return to',
    ...POLICY_CHANGE_FLAGS,
    '--dry-run': 'print what would change, store nothing',
    '--assignments': 'also restore the assignments that were removed or changed since, and revoke those that were added',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    const [as, policy] = [requireFlag(flags, 'as'), requireFlag(flags, 'policy')];
    const revision = parseRevision(findFlag(flags, 'to'));
    const options = { assignments: flags.has('assignments'), dryRun: flags.has('dryRun') };
    const reason = findFlag(flags, 'reason') ?? '';
    if (reason === '' && !options.dryRun) throw new SetupError('expected --reason with the reason of the rollback, given none');
    const service = await context.createService({ ...config, createDatabase: 'never' });
    try {
      const { name, differences, file, message } = await service.rollBackPolicy({ as, policy, revision, reason, ...options });
      if (flags.has('json'))
        context.print(JSON.stringify({ name, revision, differences, file: file ?? null, message: message ?? null }, undefined, 2));
      else {
        for (const { meaning } of differences) context.print(meaning);
        if (differences.length === 0) context.print(`policy "${name}" is as at revision ${revision}`);
        context.print(message ?? (file === undefined ? 'a dry run, nothing was stored' : 'nothing was changed'));
      }
      if (file === undefined) return 0;
      context.printError(
        `bailiwick: policy "${name}" is managed by ${file}: change the file, for example with Git, and run "bailiwick policies apply"`,
      );
      return 1;
    } finally {
      await service.close();
    }
  },
};

function parseRevision(text: string | undefined): number {
  if (text === undefined) throw new SetupError('expected --to with a revision, as "bailiwick policies history" lists them, given none');
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new SetupError(`--to: expected a revision, as "bailiwick policies history" lists them, given ${JSON.stringify(text.slice(0, 40))}`);
}
