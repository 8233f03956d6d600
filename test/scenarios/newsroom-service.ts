import { startService } from '../harness.ts';
import type { ScenarioContext } from './scenario.ts';

/** Starts the newsroom with an admin, the editor Maya of the department politics, and a reader. A name selects a token or, in a path, an id. */
export async function startNewsroom(): Promise<ScenarioContext> {
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
