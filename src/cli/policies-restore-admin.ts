import type { CliCommand } from './cli-context.ts';

/** Restores the policy that gives admins full access. */
export const policiesRestoreAdmin: CliCommand = {
  name: 'policies restore-admin',
  summary: 'restore the policy "Administrators: full access": its rule, active, and assigned to role admin',
  isOffline: true,
  async run(world, settings) {
    const service = await world.createService({ ...settings, createDatabase: 'never' });
    try {
      const { message, closing } = await service.restoreAdminPolicy();
      world.print(message);
      if (closing.length === 0) return 0;
      for (const rule of closing) world.printError(rule);
      world.printError('these rules have precedence; an admin can change them at /admin/api/policies');
      return 1;
    } finally {
      await service.close();
    }
  },
};
