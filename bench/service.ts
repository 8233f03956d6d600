import { fileURLToPath } from 'node:url';
import { createUser, expectDone, idOf, logIn, type Program, send, setUp, startProgram } from '../test/process/program.ts';
import { NODE_OPTIONS } from './process.ts';

const PROJECT = fileURLToPath(new URL('http/project', import.meta.url));
const EMAIL = 'maya@example.com';
const LONG_TOKENS = ['--access-token-seconds', '86400'];

/** Program and project of a service. */
export interface ServiceSource {
  /** Path of the program; by default the one that `npm start` builds from the sources. */
  readonly main?: string;
  /** Folder of the project; by default that with the articles of the contestants. */
  readonly project?: string;
  /** Further arguments of the start. */
  readonly args?: readonly string[];
}

/** Starts the service as `npm start` does, without a rate limit. */
export function startService(
  folder: string,
  database: string,
  { main, project = PROJECT, args = [] }: ServiceSource = {},
): Promise<Program> {
  return startProgram({
    data: folder,
    ...(main !== undefined && { main }),
    project,
    args: [...['--database', database, '--rate-limit', '0', '--log-level', 'error', '--backups-kept', '0'], ...LONG_TOKENS, ...args],
    // Existing options are kept, so that `NODE_OPTIONS=--cpu-prof` writes a profile.
    env: { NODE_OPTIONS: [process.env['NODE_OPTIONS'] ?? '', ...NODE_OPTIONS].join(' ') },
  });
}

/** Measures one start: milliseconds until the service listens. */
export async function timeStart(...where: Parameters<typeof startService>): Promise<{ readonly value: number }> {
  const began = performance.now();
  const program = await startService(...where);
  const value = performance.now() - began;
  await program.stop();
  return { value };
}

/** The user that sends the requests. */
export interface Prepared {
  /** Id of the user. */
  readonly caller: string;
  readonly token: string;
  readonly admin: string;
}

/** Creates an admin, and a user who may perform these actions on their own articles only. */
export async function prepareCaller(url: string, actions: readonly string[]): Promise<Prepared> {
  const admin = await setUp(url);
  const caller = await createUser(url, admin, { email: EMAIL, role: 'user' });
  const rules = actions.map((action) => ({
    resource: 'Article',
    action,
    conditions: [{ field: 'resource.authorId', operator: 'eq', value: '${user.id}' }],
  }));
  const body = { name: 'own', type: 'ATTRIBUTE_BASED', rules };
  const policy = idOf(await expectDone(send(url, 'POST /admin/api/policies', { token: admin, body })));
  await expectDone(send(url, `POST /admin/api/policies/${policy}/assign/role/user`, { token: admin, body: {} }));
  return { caller, token: await logIn(url, EMAIL), admin };
}
