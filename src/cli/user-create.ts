import type { CliCommand } from './cli-context.ts';
import { readNamed } from './flags.ts';

/** Creates a user. */
export const userCreate: CliCommand = {
  name: 'user create',
  summary: 'create a user, with a password read from the terminal or from standard input',
  parameters: { '<email>': 'email of the user' },
  switches: {
    '--name <name>': 'name of the user (default: the email)',
    '--role <role>': 'role of the user (default: the default of the field role of User)',
  },
  isOffline: true,
  async run(world, settings, switches) {
    const email = readNamed(switches, 'email');
    const role = switches.has('role') ? readNamed(switches, 'role') : undefined;
    const name = switches.has('name') ? readNamed(switches, 'name') : email;
    const password = await world.readPassword();
    const service = await world.createService(settings);
    try {
      world.print(await service.createUser({ email, name, role, password }));
      return 0;
    } finally {
      await service.close();
    }
  },
};
