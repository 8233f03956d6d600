import type { CliCommand } from './cli-context.ts';
import { readNamed } from './flags.ts';

/** Sets the password of a user. */
export const userPassword: CliCommand = {
  name: 'user password',
  summary: "set a user's password, read from the terminal or from standard input, and end every session of the user",
  parameters: { '<email>': 'email of the user' },
  isOffline: true,
  async run(world, settings, switches) {
    const email = readNamed(switches, 'email');
    const password = await world.readPassword();
    const service = await world.createService({ ...settings, createDatabase: 'never' });
    try {
      world.print(await service.setPassword({ email, password }));
      return 0;
    } finally {
      await service.close();
    }
  },
};
