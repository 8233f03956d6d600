import type { Config } from '../config/index.ts';
import type { Service } from '../service.ts';
import type { CliContext } from './cli-context.ts';

/** The configuration of the service of a command. */
interface CommandService {
  readonly config: Config;
  /** True if the command may create a missing database, as the config option `createDatabase` says. By default it never does. */
  readonly createsDatabase?: boolean;
}

/** Creates a service, runs `work` and closes the service. Returns the exit code of `work`. */
export async function withService(
  context: CliContext,
  { config, createsDatabase = false }: CommandService,
  work: (service: Service) => Promise<number>,
): Promise<number> {
  const service = await context.createService(createsDatabase ? config : { ...config, createDatabase: 'never' });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
