import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';

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
    const service = await context.createService({ ...config, createDatabase: 'never' });
    try {
      context.print(await service.setPassword({ email, password }));
      return 0;
    } finally {
      await service.close();
    }
  },
};
