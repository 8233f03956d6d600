import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { withService } from './with-service.ts';

/** Gives a user a role. */
export const userPromote: CliCommand = {
  name: 'user promote',
  summary: 'give a user the role admin or another role',
  details: 'An inactive user is activated.',
  parameters: { '<email>': 'email of the user' },
  flags: { '--role <role>': 'role to give (default: admin)' },
  settings: 'database',
  async run(context, config, flags) {
    const email = requireFlag(flags, 'email');
    const role = flags.has('role') ? requireFlag(flags, 'role') : 'admin';
    return withService(context, { config }, async (service) => {
      context.print(await service.promoteUser({ email, role }));
      return 0;
    });
  },
};
