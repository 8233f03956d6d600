import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKOUT, type Program, query, runProgram, runUnread, SOURCES, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-start-'));
const data = join(folder, 'data');
const newsroom = ['--project', 'examples/newsroom', '--data', join(folder, 'refused'), '--port', '0'];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an unusable config option', () => {
  const wrong: readonly (readonly [args: readonly string[], env: Readonly<Record<string, string>>, sentence: string | RegExp])[] = [
    [['--port', '99999'], {}, '--port: expected a whole number from 0 to 65535, given "99999"'],
    [['--database', 'postgres://me:hunter2@127.0.0.1:1/x'], {}, /^cannot use the database postgres:\/\/me@127\.0\.0\.1:1\/x: /],
    [[], { BAILIWICK_PROT: '1' }, 'there is no setting BAILIWICK_PROT (did you mean "BAILIWICK_PORT"?)'],
    [
      ['--project', join(folder, 'nowhere')],
      {},
      `there is no folder ${folder}/nowhere/resources; name the folder that contains resources/ with --project, or create a project with "bailiwick init"`,
    ],
    [['--data', '/dev/null/x'], {}, /^cannot open the database file \/dev\/null\/x\/bailiwick.db: /],
    [
      ['--data', '/proc/bailiwick'],
      {},
      /^cannot open the database file \/proc\/bailiwick\/bailiwick.db: cannot make the folder \/proc\/bailiwick: /,
    ],
    [['--database', 'sqlite:/dev/zero'], {}, 'cannot open the database file /dev/zero: expected a file, found a device'],
    [['--database', `sqlite:${folder}`], {}, `cannot open the database file ${folder}: expected a file, found a folder`],
    [['--database', 'sqlite:package.json'], {}, 'cannot open the database file package.json: file is not a database'],
    [
      ['--host', '192.0.2.1'],
      {},
      'cannot listen on port 0 of 192.0.2.1: this machine does not have that address; choose another, or 0.0.0.0 for all addresses',
    ],
  ];
  it.each(wrong)('reports an unusable config option in one sentence, with exit code 2: %j %j', async (args, env, sentence) => {
    const command = ['start', ...newsroom, ...args];
    // Only a process of its own has other environment variables.
    const { code, out, err } = Object.keys(env).length > 0 ? await runProgram(command, env) : await runCommand(command);
    const told = err.replace(/^bailiwick: /, '').replace(/\n$/, '');
    expect({ code, out, told }).toEqual({
      code: 2,
      out: '',
      told: typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    });
    expect(told).not.toContain('\n');
  });

  it('reports a port in use in one sentence, with exit code 2', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const { code, err } = await runProgram(['start', ...newsroom, '--port', String(port)]);
    other.close();
    expect({ code, err }).toEqual({
      code: 2,
      err: `bailiwick: cannot listen on port ${port} of 127.0.0.1: the port is in use; choose another one, or 0 for any free port\n`,
    });
  });

  it.skipIf(process.getuid?.() === 0)('reports a read-only data folder in one sentence, with exit code 2', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    const { code, err } = await runProgram(['start', ...newsroom, '--data', closed]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/^bailiwick: cannot open the database file .*permission denied.*\n$/),
    });
  });
});

describe('a start that waits', () => {
  it('SIGTERM ends a start that waits for a server that never responds', async () => {
    const connected = Promise.withResolvers<void>();
    const sockets: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      connected.resolve();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const args = ['bin/bailiwick.js', 'start', ...newsroom, '--database', `postgres://me@127.0.0.1:${port}/x`];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await connected.promise;
    child.kill('SIGTERM');
    const deadline = setTimeout(() => child.kill('SIGKILL'), 30_000);
    expect(await ended).toEqual([0, null]);
    clearTimeout(deadline);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('definitions with mistakes', () => {
  it('a start lists all mistakes in definitions with their line and a suggestion', async () => {
    const resources = join(folder, 'mistaken', 'resources');
    mkdirSync(resources, { recursive: true });
    writeFileSync(
      join(resources, 'Event.yaml'),
      'name: Event\nfields:\n  title: { typ: string, required: yes }\n  kind: { type: enumm }\n',
    );
    writeFileSync(join(resources, 'Talk.yaml'), 'name: Talk\nfields:\n  eventId: { type: reference, to: Evnt }\n');
    const { code, out, err } = await runCommand(['start', '--project', join(folder, 'mistaken'), '--data', data]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.split('\n')).toEqual([
      'bailiwick: 5 mistakes in the definitions',
      expect.stringMatching(/^ {2}resources\/Event.yaml:3:10 fields.title: expected a type, one of string, /),
      '  resources/Event.yaml:3:12 fields.title.typ: unknown option "typ" (did you mean "type"?)',
      '  resources/Event.yaml:3:35 fields.title.required: expected true or false, given "yes"',
      '  resources/Event.yaml:4:17 fields.kind.type: unknown type "enumm" (did you mean "enum"?)',
      '  resources/Talk.yaml:3:35 fields.eventId.to: unknown resource "Evnt" (did you mean "Event"?)',
      '',
    ]);
  });
});

describe('the setup token', () => {
  const own = join(folder, 'setup');
  const tokenIn = (program: Program): string => /"token":"([^"]+)"/.exec(program.printed())?.[1] ?? '';
  const setUp = (url: string, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${url}/auth/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9', ...headers },
      body: JSON.stringify({ token, name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }),
    });

  it('each start prints a setup token in a link and in a command, stores its hash, and another process accepts it', async () => {
    const first = await startProgram({ data: own, args: ['--log-level', 'debug'] });
    await first.prints('/auth/setup');
    const token = tokenIn(first);
    expect(token).toMatch(/^[\w-]{32}$/);
    expect((await setUp(first.url, `${token}x`)).status).toBe(403);
    expect(first.printed().split(token)).toHaveLength(3);
    expect(JSON.stringify(query(own, 'SELECT text FROM _State'))).not.toContain(token);
    await first.stop();
    const second = await startProgram({ data: own, args: ['--log-level', 'debug'] });
    await second.prints('/auth/setup');
    expect(tokenIn(second)).not.toBe(token);
    expect((await setUp(second.url, token)).status).toBe(201);
    expect((await setUp(second.url, tokenIn(second))).status).toBe(409);
    await second.stop();
    expect(second.printed()).not.toContain(token);
    expect(second.printed().split(tokenIn(second))).toHaveLength(3);
    const third = await startProgram({ data: own });
    await third.prints('API page');
    await third.stop();
    expect(third.printed()).not.toContain('/auth/setup');
  });

  it('the setup token is not printed if setup is off', async () => {
    const program = await startProgram({ data: join(folder, 'off'), args: ['--setup', 'off'] });
    await program.prints('API page');
    expect((await setUp(program.url, '')).status).toBe(404);
    await program.stop();
    expect(program.printed()).not.toContain('/auth/setup');
  });
});

describe('the output of a start', () => {
  let first: string;
  let second: string;
  beforeAll(async () => {
    // From the sources, as a checkout starts without a build.
    const program = await startProgram({ data, main: SOURCES });
    await program.prints('/auth/setup');
    await program.stop('SIGINT');
    first = program.printed().replaceAll(program.url, 'URL');
    const again = await startProgram({ data });
    await again.prints('/auth/setup');
    await again.stop();
    second = again.printed().replaceAll(again.url, 'URL');
  });

  it('the output of a start has the address, the migrations and the first steps', () => {
    expect(first.split('\n')).toEqual([
      'bailiwick listens on URL',
      '  console   URL/console/',
      '  project   examples/newsroom',
      `  database  sqlite:${data}/bailiwick.db`,
      '  API page  URL/docs',
      'created tables: User, Article, Comment, Tip',
      'the permissions maps of the definitions are not enforced; to create the 3 corresponding policies, run: bailiwick policies from-permissions --apply',
      'no admin exists yet; create one in the console',
      expect.stringMatching(/^ {2}URL\/console\/setup#token=[\w-]{32}$/),
      'or with',
      expect.stringMatching(/^ {2}curl -X POST URL\/auth\/setup .*"token":"[\w-]{32}"/),
      '  requests from this machine need no token; behind a reverse proxy on this machine, start with --setup token',
      '',
    ]);
  });

  it('the output of a start does not repeat the migrations of the first start', () => {
    expect(second).not.toContain('created tables');
  });

  it('a start of the checkout comes with a compile cache for the next start, in the folder of its packages', () => {
    // The tests set a folder for all programs that they start.
    const { NODE_COMPILE_CACHE: _, ...env } = process.env;
    const report = `import { getCompileCacheDir } from 'node:module'; process.on('exit', () => console.log(getCompileCacheDir()));`;
    const printed = execFileSync(process.execPath, ['--import', `data:text/javascript,${report}`, CHECKOUT, '--version'], { env });
    expect(printed.toString()).toContain(fileURLToPath(new URL('../../node_modules/.cache/bailiwick/', import.meta.url)));
  });

  it('the output of a command may be a closed pipe', async () => {
    expect(await runUnread(['storage', 'plan', '--project', 'examples/newsroom', '--data', join(folder, 'unread')])).toBe(0);
  });
});
