/** The log of a process at level debug contains no sent or generated secret, and no line that a caller forged. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabaseUrl, onPostgres } from '../postgres/test-database.ts';
import { type Program, query, startProgram } from '../process/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-logs-'));
const data = join(folder, 'data');
/** Secrets by kind; tokens are added when they are issued. */
const secrets = new Map([
  ['password', 'password-of-the-admin-4417'],
  ['wrong password', 'wrong-password-of-the-admin-2290'],
  ['secret field', 'pin-that-nobody-may-see-8812'],
  ['key', 'a key of the tests, which is long enough for HS256'],
]);
const secret = (name: string): string => secrets.get(name) ?? '';

let program: Program;
beforeAll(async () => {
  const resources = join(folder, 'project', 'resources');
  mkdirSync(resources, { recursive: true });
  writeFileSync(
    join(resources, 'Case.yaml'),
    'name: Case\nfields:\n  title: { type: string }\n  pin: { type: string, writeOnly: true, maxLength: 40 }\n',
  );
  const database = onPostgres ? ['--database', createDatabaseUrl(folder)] : [];
  const env = { BAILIWICK_JWT_SECRET: secret('key') };
  program = await startProgram({ data, project: join(folder, 'project'), args: ['--log-level', 'debug', ...database], env });
});
afterAll(async () => {
  await program.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a path without normalizing it; returns status and body. */
function send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<[number, string]> {
  const { hostname, port } = new URL(program.url);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const all = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: all, agent: false }, (answer) => {
      let received = '';
      answer.setEncoding('utf8').on('data', (part) => (received += part));
      answer.on('end', () => resolve([answer.statusCode ?? 0, received]));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

it('no secret and no forged line is in the log or a response, and no password or token in the database', async () => {
  const answers: string[] = [];
  const call = async (status: number, ...sent: Parameters<typeof send>): Promise<string> => {
    const [given, text] = await send(...sent);
    expect([sent[1], given], text).toEqual([sent[1], status]);
    answers.push(text.replace(/"(refreshToken|token)":"[^"]*"/g, ''));
    return text;
  };
  const admin = { email: 'ada@example.com', password: secret('password') };
  await call(201, 'POST', '/auth/setup', { name: 'Ada', ...admin });
  const { token, refreshToken } = JSON.parse(await call(200, 'POST', '/auth/login', admin)) as { token: string; refreshToken: string };
  secrets.set('token', token).set('refresh token', refreshToken).set('Basic', 'YWRhOnBhc3N3b3JkLWluLWJhc2lj');
  const bearer = { authorization: `Bearer ${token}` };
  await call(401, 'POST', '/auth/login', { ...admin, password: secret('wrong password') });
  await call(400, 'POST', '/auth/login', `{"email":"ada@example.com","password":"${secret('wrong password')}`);
  await call(400, 'POST', '/auth/login', { email: [secret('wrong password')], password: { is: secret('wrong password') } });
  await call(401, 'GET', '/api/Case', undefined, { authorization: `Basic ${secret('Basic')}` });
  await call(401, 'GET', '/api/Case', undefined, { authorization: `Bearer ${token.slice(0, -2)}` });
  await call(201, 'POST', '/api/Case', { title: 'x', pin: secret('secret field') }, bearer);
  await call(422, 'POST', '/api/Case', { title: 'x', pin: secret('secret field').repeat(2) }, bearer);
  await call(400, 'GET', `/api/Case?where[pin]=${secret('secret field')}`, undefined, bearer);
  await call(400, 'GET', `/api/Case?where[pin][like]=${secret('secret field')}&token=${token}`, undefined, bearer);
  await call(
    200,
    'POST',
    '/api/batch',
    { requests: [{ resource: 'Case', action: 'create', data: { pin: [secret('secret field')] } }] },
    bearer,
  );
  const { refreshToken: second } = JSON.parse(await call(200, 'POST', '/auth/refresh', { refreshToken })) as { refreshToken: string };
  secrets.set('second refresh token', second);
  await call(401, 'POST', '/auth/refresh', { refreshToken });

  const forged = '{"level":60,"msg":"forged"}';
  for (const part of [`%0A${encodeURIComponent(forged)}%0A`, `%0d%0a${encodeURIComponent(forged)}`, '%1b%5b2J', '%e2%80%a8forged'])
    expect([400, 404]).toContain((await send('GET', `/nosuch/${part}`, undefined, { 'user-agent': forged }))[0]);
  await call(404, 'GET', '/nosuch', undefined, { 'x-request-id': forged, 'x-forwarded-for': forged, origin: forged, referer: forged });

  if (!onPostgres) {
    for (const name of readdirSync(data).filter((each) => each.startsWith('bailiwick.db'))) {
      const stored = readFileSync(join(data, name), 'latin1');
      for (const what of ['password', 'wrong password', 'key', 'token', 'refresh token', 'second refresh token'])
        expect(stored.includes(secret(what)), `${what} in ${name}`).toBe(false);
    }
    // An internal failure is logged with its cause. The next request causes one.
    expect(query(data, 'SELECT count(*) FROM "User"')).toEqual([1]);
    unlinkSync(join(data, 'bailiwick.db'));
    const { authorization } = bearer;
    expect((await send('POST', '/api/Case', { pin: secret('secret field') }, { authorization }))[0]).toBe(503);
    expect((await send('POST', '/auth/login', { ...admin }))[0]).toBe(503);
  }
  await program.prints('/nosuch');

  const printed = program.printed();
  const lines = printed.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(15);
  for (const line of lines) expect(JSON.parse(line), line).not.toMatchObject({ msg: 'forged' });
  expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  for (const [name, text] of secrets) for (const each of [printed, ...answers]) expect(each, name).not.toContain(text);
});
