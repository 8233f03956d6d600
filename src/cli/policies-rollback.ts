import type { RollbackReport } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { POLICY_CHANGE_FLAGS } from './import-policies.ts';
import { withService } from './with-service.ts';

/** Restores a past version of a policy. */
export const policiesRollback: CliCommand = {
  name: 'policies rollback',
  summary: 'restore the version of a policy that was in force at a revision',
  details:
    '"policies history" lists the revisions. A rollback is a new revision with an audit entry, so it can be rolled back too. Assignments stay as they are, unless --assignments is given. A policy that files manage is not changed: the command prints the differences, and the file must be changed.',
  parameters: { '<policy>': 'name or id of the policy, of a deleted one its id' },
  flags: {
    '--to <revision>': 'revision to return to',
    ...POLICY_CHANGE_FLAGS,
    '--dry-run': 'validate the rollback and print what would change, store nothing but an audit entry',
    '--assignments': 'also restore the assignments that were removed or changed since, and revoke those that were added',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    const [as, policy] = [requireFlag(flags, 'as'), requireFlag(flags, 'policy')];
    const revision = parseRevision(findFlag(flags, 'to'));
    const options = { assignments: flags.has('assignments'), dryRun: flags.has('dryRun') };
    const reason = findFlag(flags, 'reason') ?? '';
    if (reason === '' && !options.dryRun) throw new SetupError('expected --reason with the reason of the rollback, given none');
    return withService(context, { config }, async (service) => {
      const rolledBack = await service.rollBackPolicy({ as, policy, revision, reason, ...options });
      const { name, file } = rolledBack;
      const printed = { revision, dryRun: options.dryRun };
      for (const line of flags.has('json') ? [toJson(rolledBack, printed)] : describe(rolledBack, printed)) context.print(line);
      if (file === undefined) return 0;
      context.printError(
        `bailiwick: policy "${name}" is managed by ${file}: change the file, for example with Git, and run "bailiwick policies apply"`,
      );
      return 1;
    });
  },
};

interface PrintedRollback {
  readonly revision: number;
  readonly dryRun: boolean;
}

function toJson({ name, differences, assignments, file, message }: RollbackReport, { revision, dryRun }: PrintedRollback): string {
  const optional = dryRun ? { dryRun } : {};
  const rolledBack = { name, revision, differences, assignments, file: file ?? null, message: message ?? null, ...optional };
  return JSON.stringify(rolledBack, undefined, 2);
}

function describe({ name, differences, assignments, message }: RollbackReport, { revision, dryRun }: PrintedRollback): readonly string[] {
  const changes = [
    ...differences.map(({ meaning }) => meaning),
    ...assignments.map((assignment) => {
      const assignee = assignment.role !== undefined ? `role ${assignment.role}` : (assignment.email ?? `user ${assignment.userId}`);
      return `the assignment to ${assignee} ${(dryRun ? PREVIEWED_OUTCOMES : OUTCOMES)[assignment.outcome]}`;
    }),
  ];
  return [...(changes.length === 0 ? [`policy "${name}" is as at revision ${revision}`] : changes), message ?? 'nothing was changed'];
}

const SKIPPED = 'is not restored, because the user no longer exists';
const OUTCOMES = { restored: 'was restored', revoked: 'was revoked', skipped: SKIPPED } as const;
const PREVIEWED_OUTCOMES = { restored: 'would be restored', revoked: 'would be revoked', skipped: SKIPPED } as const;

function parseRevision(text: string | undefined): number {
  if (text === undefined) throw new SetupError('expected --to with a revision, as "bailiwick policies history" lists them, given none');
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new SetupError(`--to: expected a revision, as "bailiwick policies history" lists them, given ${JSON.stringify(text.slice(0, 40))}`);
}
