/** The CLI commands for passwords, users and the admin policy, with and without a running service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { bundleProgram } from './bundle.ts';
import { type Ended, type Program, query, send, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

// The tests of this file build on each other.
const it = createChain();

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-accounts-'));
const data = join(folder, 'data');
const NEXT = 'the next password';
let program: Program;

beforeAll(async () => {
  program = await startProgram({ data });
  await setUp(program.url);
});
afterAll(async () => {
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
});

const place = ['--project', 'examples/newsroom', '--data', data];
const bailiwick = (input: string, ...args: readonly string[]): Promise<Ended> => runCommand([...args, ...place], input);

/** Runs a command with this standard input in a process of its own. */
async function runWithInput(input: string, ...args: readonly string[]): Promise<Ended> {
  const command = await bundleProgram();
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [command, ...args, ...place], { cwd: root, timeout: 60_000 }, (_, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}

const logIn = async (email: string, password: string): Promise<number> =>
  (await send(program.url, 'POST /auth/login', { body: { email, password } })).status;

it('sets a new password while the service runs, which is valid at once', async () => {
  const ended = await runWithInput(`${NEXT}\n`, 'user', 'password', 'ada@example.com');
  expect(ended).toEqual({ code: 0, out: 'the password of ada@example.com was set and every session ended\n', err: '' });
  expect([await logIn('ada@example.com', 'correct horse battery'), await logIn('ada@example.com', NEXT)]).toEqual([401, 200]);
  const entries = query(data, `SELECT "kind" || ' ' || "action" FROM "_Decision" WHERE "requestId" = 'bailiwick user password'`);
  expect(entries).toEqual(['admin update']);
});

it('creates and promotes a user', async () => {
  const created = await bailiwick(`${NEXT}\n`, 'user', 'create', 'second@example.com', '--name', 'Second');
  expect(created).toEqual({ code: 0, out: 'user second@example.com was created with role user\n', err: '' });
  expect(await logIn('second@example.com', NEXT)).toBe(200);
  const promoted = await bailiwick('', 'user', 'promote', 'second@example.com');
  expect(promoted).toEqual({ code: 0, out: 'user second@example.com has role admin and is active\n', err: '' });
});

it.each([
  ['nothing on standard input', '', ['user', 'password', 'ada@example.com'], 2, 'expected a password'],
  ['a password on the command line', NEXT, ['user', 'password', 'ada@example.com', NEXT], 2, 'too many arguments'],
  ['a common password', 'password1\n', ['user', 'password', 'ada@example.com'], 1, 'most common'],
  ['an unknown email', `${NEXT}\n`, ['user', 'password', 'adda@example.com'], 1, 'did you mean "ada@example.com"'],
  ['an unknown role', '', ['user', 'promote', 'ada@example.com', '--role', 'root'], 1, 'role: '],
])('refuses an account command with %s', async (_, input, args, code, words) => {
  const ended = await bailiwick(input, ...args);
  expect([ended.code, ended.out, ended.err]).toEqual([code, '', expect.stringContaining(words)]);
});

it('restores the admin policy, also without a running service', async () => {
  const { body } = await send(program.url, 'POST /auth/login', { body: { email: 'ada@example.com', password: NEXT } });
  const token = String(body['token']);
  const policies = (await send(program.url, 'GET /admin/api/policies', { token })).body.data as { id: string; name: string }[];
  const id = policies.find(({ name }) => name === 'Administrators: full access')?.id;
  await send(program.url, `DELETE /admin/api/policies/${id}`, { token });
  const list = async (): Promise<number> => (await send(program.url, 'GET /api/Article', { token })).status;
  expect(await list()).toBe(403);
  const restored = await runWithInput('', 'policies', 'restore-admin');
  expect(restored).toEqual({
    code: 0,
    out: 'policy "Administrators: full access" was created and is assigned to role admin\n',
    err: '',
  });
  expect(await list()).toBe(200);
  await program.stop();
  expect((await bailiwick('', 'policies', 'restore-admin')).code).toBe(0);
  expect((await bailiwick(`${NEXT} again\n`, 'user', 'password', 'ada@example.com')).code).toBe(0);
  program = await startProgram({ data });
  expect(await logIn('ada@example.com', `${NEXT} again`)).toBe(200);
});
