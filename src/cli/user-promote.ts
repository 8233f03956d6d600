import type { CliCommand } from './cli-context.ts';
import { readNamed } from './flags.ts';

/** Gives a user a role. */
export const userPromote: CliCommand = {
  name: 'user promote',
  summary: 'give a user the role admin, or the role named by --role, and activate the user',
  parameters: { '<email>': 'email of the user' },
  switches: { '--role <role>': 'role to give (default: admin)' },
  isOffline: true,
  async run(world, settings, switches) {
    const email = readNamed(switches, 'email');
    const role = switches.has('role') ? readNamed(switches, 'role') : 'admin';
    const service = await world.createService({ ...settings, createDatabase: 'never' });
    try {
      world.print(await service.promoteUser({ email, role }));
      return 0;
    } finally {
      await service.close();
    }
  },
};
