/** Guessing passwords from one address or from many, and locking out other users with wrong passwords. */
import { afterEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/index.ts';
import { type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';

let service: RunningService;
afterEach(() => service.close());

/** Sends a login with a client address in `X-Forwarded-For`: the test acts as a trusted proxy. */
async function start(settings: ServiceOptions['settings']): Promise<typeof ADMIN> {
  service = await startService({ settings: { trustProxy: '127.0.0.1', loginAttempts: 3, ...settings } });
  const made = await service.call('POST', '/auth/setup', { body: { ...ADMIN, token: await service.openSetup() } });
  expect(made.status, made.text).toBe(201);
  return ADMIN;
}

const ADMIN = { email: 'admin@example.com', password: 'correct horse battery', name: 'Admin' };

const HOME = '192.0.2.1';

async function logIn(email: string, password: string, ip: string): Promise<Reply> {
  return service.call('POST', '/auth/login', { body: { email, password }, headers: { 'x-forwarded-for': ip } });
}

async function guess(email: string, ip: string, times: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index++) statuses.push((await logIn(email, 'not the password', ip)).status);
  return statuses;
}

/** Runs a statement directly on the database, not through the service. */
async function run(text: string, ...parameters: unknown[]): Promise<void> {
  const database = await openDatabase({ database: service.database });
  try {
    await database.transaction((tx) => tx.run({ sql: text, parameters }));
  } finally {
    await database.close();
  }
}

it('wrong passwords from one address lock only that address out of the account', async () => {
  const { email, password } = await start({});
  expect(await guess(email, '203.0.113.7', 5)).toEqual([401, 401, 401, 429, 429]);
  expect((await logIn(email, password, '203.0.113.7')).status).toBe(429);
  expect((await logIn(email, password, HOME)).status).toBe(200);
  expect((await logIn(email, password, '203.0.113.7')).status, 'a login elsewhere gives no attempts back').toBe(429);
});

it('wrong passwords from many addresses are limited per account, except at an address with an earlier login', async () => {
  const { email, password } = await start({ loginAttemptsPerAccount: 6 });
  expect((await logIn(email, password, HOME)).status).toBe(200);
  for (const target of [email, 'unknown@example.com']) {
    const guesses: number[] = [];
    for (let host = 1; host <= 4; host++) guesses.push(...(await guess(target, `203.0.113.${host}`, 2)));
    expect(guesses, target).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
  }
  expect((await logIn(email, password, '198.51.100.1')).status, 'from elsewhere the right password is not tried either').toBe(429);
  expect((await logIn(email, password, HOME)).status).toBe(200);
  expect((await logIn(email, password, '198.51.100.1')).status, 'the owner who logs in does not lift the bound').toBe(429);
  expect(await guess(email, HOME, 5), 'a known address has no more attempts than any other').toEqual([401, 401, 401, 429, 429]);
});

it('attempts that are refused by address do not count towards the limit of the account', async () => {
  const { email, password } = await start({ loginAttemptsPerAccount: 6 });
  await guess(email, '203.0.113.7', 20);
  expect((await logIn(email, password, '198.51.100.1')).status).toBe(200);
});

it.each([
  ['a day', 86_400_000],
  ['ten years', 3_650 * 86_400_000],
])('a window that begins %s in the future is ignored, and a new one begins', async (_, ahead) => {
  const { email, password } = await start({ loginAttemptsPerAccount: 6, loginAttemptsPerAddress: 6 });
  await guess(email, '203.0.113.7', 9);
  await run(`update "_LoginAttempt" set "windowStart" = '${new Date(Date.now() + ahead).toISOString()}', "count" = 1000`);
  // A process asks the database about a refused address once a second.
  await expect.poll(async () => (await logIn(email, password, '203.0.113.7')).status, { timeout: 20_000 }).toBe(200);
  expect(await guess(email, '203.0.113.7', 5)).toEqual([401, 401, 401, 429, 429]);
});
