import { stringify } from 'yaml';
import type { PermissionPolicy } from '../api/index.ts';
import type { CliCommand } from './cli-context.ts';
import { withService } from './with-service.ts';

/** Converts the legacy permissions maps, which are not enforced, into policies. */
export const policiesFromPermissionsCommand: CliCommand = {
  name: 'policies from-permissions',
  summary: 'convert legacy permissions maps of definitions into policies',
  details: 'Without --apply, only prints the policies.',
  flags: { '--apply': 'create and assign the missing policies' },
  async run(context, config, flags) {
    const apply = flags.has('apply');
    return withService(context, { config, createsDatabase: apply }, async (service) => {
      const policies = await service.policiesFromPermissions({ apply });
      for (const { policy, roles, state } of policies) context.print(`---\n${stringify({ policy, roles, state }).trimEnd()}`);
      context.print(`# ${summarize(policies)}`);
      return 0;
    });
  },
};

function summarize(policies: readonly PermissionPolicy[]): string {
  if (policies.length === 0) return 'no definition has a permissions map';
  const count = (state: PermissionPolicy['state']): number => policies.filter((policy) => policy.state === state).length;
  const missing = count('missing');
  return `${count('present')} present, ${count('made')} created, ${missing} missing${missing === 0 ? '' : '; create them with --apply'}`;
}
