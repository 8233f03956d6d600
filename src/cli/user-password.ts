import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { withService } from './with-service.ts';

/** Sets the password of a user. */
export const userPassword: CliCommand = {
  name: 'user password',
  summary: 'set the password of a user',
  details: 'Reads the password from the terminal or from standard input, and ends all sessions of the user.',
  parameters: { '<email>': 'email of the user' },
  settings: 'database',
  async run(context, config, flags) {
    const email = requireFlag(flags, 'email');
    const password = await context.readPassword();
    return withService(context, { config }, async (service) => {
      context.print(await service.setPassword({ email, password }));
      return 0;
    });
  },
};
