import { startService } from '../harness.ts';
import type { Stage } from './scenario.ts';

/** The newsroom with an admin, Maya of the politics department, and a reader; each name stands for the token and, in paths, for the id. */
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
