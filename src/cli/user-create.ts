import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { withService } from './with-service.ts';

/** Creates a user. */
export const userCreate: CliCommand = {
  name: 'user create',
  summary: 'create a user',
  details: 'Reads the password from the terminal or from standard input.',
  parameters: { '<email>': 'email of the user' },
  flags: {
    '--name <name>': 'name of the user (default: the email)',
    '--role <role>': 'role of the user (default: the default of the field "role" in the definition of User)',
  },
  settings: 'database',
  async run(context, config, flags) {
    const email = requireFlag(flags, 'email');
    const role = flags.has('role') ? requireFlag(flags, 'role') : undefined;
    const name = flags.has('name') ? requireFlag(flags, 'name') : email;
    const password = await context.readPassword();
    return withService(context, { config, createsDatabase: true }, async (service) => {
      context.print(await service.createUser({ email, name, role, password }));
      return 0;
    });
  },
};
