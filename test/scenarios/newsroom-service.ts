import { startService } from '../harness.ts';
import type { Stage } from './scenario.ts';

/** Starts the newsroom with an admin, Maya of the department politics, and a reader. Each name selects a token and, in paths, an id. */
export async function startNewsroom(): Promise<Stage> {
  const service = await startService({ project: 'examples/newsroom' });
  const users = {
    admin: await service.admin(),
    maya: await service.user({ department: 'politics' }),
    reader: await service.user(),
  };
  return {
    service,
    tokens: new Map(Object.entries(users).map(([name, { token }]) => [name, token])),
    kept: new Map(Object.entries(users).map(([name, { id }]) => [name, id])),
  };
}
