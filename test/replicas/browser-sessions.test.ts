/** Browser sessions on two services that share one PostgreSQL database. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type RunningService, startService } from '../harness.ts';

let replicas: readonly [RunningService, RunningService];
let email: string;
beforeAll(async () => {
  const jwtSecret = 'one secret for both replicas of this test';
  const first = await startService({ settings: { jwtSecret } });
  const second = await startService({ settings: { jwtSecret, database: first.database } });
  replicas = [first, second];
  email = (await first.user()).email;
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

it('a session that one replica has opened is renewed by the other, and ended for both', async () => {
  const [first, second] = replicas;
  const [here, there] = [openBrowser(first), openBrowser(second)];
  const token = String((await here.logIn(email)).at('token'));
  there.cookie = here.cookie;
  const renewed = await there.refresh();
  expect(renewed.status).toBe(200);
  for (const replica of replicas) expect((await replica.call('GET', '/auth/me', { token })).status).toBe(200);
  expect((await there.logOut()).status).toBe(200);
  for (const replica of replicas)
    for (const used of [token, String(renewed.at('token'))])
      expect((await replica.call('GET', '/auth/me', { token: used })).status).toBe(401);
  expect((await here.refresh()).status).toBe(401);
});

it('first logins at both replicas at once give the cookie one name', async () => {
  const browsers = replicas.map((replica) => openBrowser(replica));
  const replies = await Promise.all(browsers.map((browser) => browser.logIn(email)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(browsers.map(({ cookie }) => cookie?.split('=')[0])).size).toBe(1);
});

it('tabs that refresh at both replicas at once all get a token', async () => {
  const browsers = replicas.map((replica) => openBrowser(replica));
  const [here, there] = browsers as [(typeof browsers)[0], (typeof browsers)[0]];
  await here.logIn(email);
  there.cookie = here.cookie;
  const replies = await Promise.all(Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? here : there).refresh()));
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
});
