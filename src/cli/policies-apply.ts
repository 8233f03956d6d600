import type { PolicyApplicationReport } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import type { CliCommand, CliContext, CliFlags } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { POLICY_CHANGE_FLAGS } from './import-policies.ts';
import { withProgress } from './progress.ts';
import { withService } from './with-service.ts';

/** Applies the policies in the folder `policies/` of the project. */
export const policiesApply: CliCommand = {
  name: 'policies apply',
  summary: 'create, update and assign the policies in the folder policies/',
  details:
    'Policies are matched by name. Either all are applied or none. From then on, files manage them: the API and the console cannot change them. Policies that no file has contained stay as they are.',
  flags: {
    ...POLICY_CHANGE_FLAGS,
    '--prune': 'delete the policies, and remove the assignments to roles, that files managed and no longer contain',
    '--release': 'leave the policies that files managed and no longer contain to the API and the console',
    '--yes': 'delete policies without a question',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    const as = requireFlag(flags, 'as');
    const orphans = parseOrphans(flags);
    const policies = await context.readPolicies(config, { mayBeEmpty: orphans !== 'keep' });
    return withService(context, { config, createsDatabase: !flags.has('dryRun') }, async (service) => {
      const request = { as, policies, orphans, reason: findFlag(flags, 'reason') };
      const apply = (options: { readonly dryRun: boolean; readonly deletable?: readonly string[] }): Promise<PolicyApplicationReport> =>
        withProgress(context, (show) => {
          show('applying the policies of the project');
          return service.applyPolicies({ ...request, ...options });
        });
      const dryRun = flags.has('dryRun');
      const preview = dryRun || (orphans === 'delete' && !flags.has('yes')) ? await apply({ dryRun: true }) : undefined;
      if (!dryRun && preview !== undefined && !(await confirm(context, preview))) {
        context.print('nothing was applied');
        return 1;
      }
      const deletable = preview?.orphanedPolicies.map(({ id }) => id);
      const result = dryRun && preview !== undefined ? preview : await apply({ dryRun, ...(deletable !== undefined && { deletable }) });
      print(context, result, flags);
      return 0;
    });
  },
};

function parseOrphans(flags: CliFlags): 'keep' | 'release' | 'delete' {
  if (flags.has('prune') && flags.has('release')) throw new SetupError('expected --prune or --release, given both');
  return flags.has('prune') ? 'delete' : flags.has('release') ? 'release' : 'keep';
}

/** Asks whether the policies may be deleted. @throws SetupError if there is no terminal to ask on */
async function confirm(context: CliContext, { orphanedPolicies, orphanedRoles }: PolicyApplicationReport): Promise<boolean> {
  if (orphanedPolicies.length + orphanedRoles.length === 0) return true;
  const lines = [
    ...orphanedPolicies.map(({ name, file }) => `delete policy "${name}", which was in ${file}, with its assignments`),
    ...orphanedRoles.map(({ policy, role }) => `remove the assignment of policy "${policy}" to role ${role}`),
  ];
  if (context.askQuestions === undefined)
    throw new SetupError('expected --yes, because files no longer contain policies or assignments; nothing was applied', lines);
  for (const line of lines) context.print(line);
  return /^y(?:es)?$/i.test(await context.askQuestions(({ ask }) => ask('continue? (yes or no) ')));
}

function print(context: CliContext, { lines, ...result }: PolicyApplicationReport, flags: CliFlags): void {
  const dryRun = flags.has('dryRun');
  const summary = `${lines.at(-1)}${dryRun ? '; a dry run, nothing was stored' : ''}`;
  const printed = flags.has('json')
    ? [JSON.stringify({ ...result, ...(dryRun && { dryRun }) }, undefined, 2)]
    : [...lines.slice(0, -1), summary];
  for (const line of printed) context.print(line);
}
