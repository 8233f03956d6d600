import { stringify } from 'yaml';
import type { CliCommand, PermissionPolicies } from './cli-context.ts';

/** Turns the legacy permissions maps, which nothing enforces, into policies that mean the same. */
export const policiesFromPermissionsCommand: CliCommand = {
  name: 'policies from-permissions',
  summary: 'print the policies that correspond to the legacy permissions maps of the definitions',
  switches: { '--apply': 'create and assign those that are missing' },
  async run(world, settings, switches) {
    const service = await world.createService(settings);
    try {
      const policies = await service.policiesFromPermissions({ apply: switches.has('apply') });
      for (const { policy, roles, state } of policies) world.print(`---\n${stringify({ policy, roles, state }).trimEnd()}`);
      world.print(`# ${summarize(policies)}`);
      return 0;
    } finally {
      await service.close();
    }
  },
};

function summarize(policies: PermissionPolicies): string {
  if (policies.length === 0) return 'no definition has a permissions map';
  const count = (state: PermissionPolicies[number]['state']): number => policies.filter((policy) => policy.state === state).length;
  const missing = count('missing');
  return `${count('present')} present, ${count('made')} made, ${missing} missing${missing === 0 ? '' : ': make them with --apply'}`;
}
