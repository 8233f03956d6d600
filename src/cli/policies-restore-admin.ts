import type { CliCommand } from './cli-context.ts';
import { withService } from './with-service.ts';

/** Restores the policy that gives admins full access. */
export const policiesRestoreAdmin: CliCommand = {
  name: 'policies restore-admin',
  summary: 'restore the policy "Administrators: full access"',
  details:
    'Resets its rule, activates it and assigns it to the role admin. Lists the rules that still deny admins; the exit code is then 1.',
  settings: 'database',
  async run(context, config) {
    return withService(context, { config }, async (service) => {
      const { message, closing } = await service.restoreAdminPolicy();
      context.print(message);
      if (closing.length === 0) return 0;
      for (const rule of closing) context.printError(rule);
      context.printError('these rules have precedence; an admin can change them at /admin/api/policies');
      return 1;
    });
  },
};
