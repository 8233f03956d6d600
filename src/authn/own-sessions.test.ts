import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../errors.ts';
import { ADMIN, startAuthentication, type TestAuthentication } from './authentication.fixture.ts';
import type { TokenOrigin } from './own-sessions.ts';

// The clock begins in the past. A clock ahead of the present would give the ids of later test files a time in the future, because ids only grow.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 100 * 86_400_000 }));
afterEach(() => void vi.useRealTimers());

interface Stage extends TestAuthentication {
  /** Logs in again; returns the request of the new session. */
  logIn(): Promise<TokenOrigin>;
}

async function start(): Promise<Stage> {
  const test = await startAuthentication();
  await test.call('POST /auth/setup', ADMIN);
  const logIn = async (): Promise<TokenOrigin> => {
    const origin = { requestId: 'r1', ip: '192.0.2.1' };
    return { ...origin, token: (await test.identity.logIn({ email: ADMIN.email, password: ADMIN.password }, origin)).token };
  };
  return { ...test, logIn };
}

async function idOf({ identity }: Stage, origin: TokenOrigin): Promise<string> {
  return (await identity.ownSessions.list(origin, {})).current;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}

const isOpen = async ({ identify }: Stage, { token }: TokenOrigin): Promise<boolean> => typeof (await identify(token)) === 'object';

describe('own sessions', () => {
  it('lists the newest first, in pages that neither repeat nor omit one', async () => {
    const stage = await start();
    const origins: TokenOrigin[] = [];
    for (let times = 0; times < 5; times++) origins.push(await stage.logIn());
    const [first] = origins as [TokenOrigin];
    const all = await stage.identity.ownSessions.list(first, {});
    expect(all.sessions.map(({ id }) => id)).toEqual((await Promise.all(origins.map((origin) => idOf(stage, origin)))).reverse());
    expect(all.nextCursor).toBeUndefined();
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await stage.identity.ownSessions.list(first, { limit: 2, cursor });
      found.push(...page.sessions.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found).toEqual(all.sessions.map(({ id }) => id));
  });

  it('lists neither sessions that have ended nor those of other users', async () => {
    const stage = await start();
    await stage.logIn();
    vi.setSystemTime(Date.now() + 86_400_000);
    const [revoked, kept] = [await stage.logIn(), await stage.logIn()];
    await stage.identity.ownSessions.endCurrent(revoked);
    await stage.run(
      `insert into "_Session" ("id", "userId", "createdAt", "expiresAt") values ('other', 'other', ?, ?)`,
      new Date(Date.now()).toISOString(),
      new Date(Date.now() + 1000).toISOString(),
    );
    const { sessions, current } = await stage.identity.ownSessions.list(kept, {});
    expect(sessions.map(({ id }) => id)).toEqual([current]);
  });

  it('a session of an earlier version of the service has neither address nor last use', async () => {
    const stage = await start();
    const origin = await stage.logIn();
    await stage.run(`update "_Session" set "lastUsedAt" = null, "ip" = null, "userAgent" = null`);
    const { sessions } = await stage.identity.ownSessions.list(origin, {});
    expect(sessions).toEqual([{ id: expect.any(String), kind: 'bearer', createdAt: expect.any(String), expiresAt: expect.any(String) }]);
  });

  it('a session is ended by its id, once, and has an audit entry', async () => {
    const stage = await start();
    const [mine, other] = [await stage.logIn(), await stage.logIn()];
    const id = await idOf(stage, other);
    await stage.identity.ownSessions.end(mine, id);
    expect([await isOpen(stage, mine), await isOpen(stage, other)]).toEqual([true, false]);
    expect(await codeOf(stage.identity.ownSessions.end(mine, id))).toBe('SESSION_UNKNOWN');
    expect(await stage.rows(`select "recordId", "allowed" from "_Decision" where "action" = 'revoke'`)).toEqual([
      { recordId: id, allowed: 1 },
    ]);
  });

  it('the session of the token can be ended by its id too', async () => {
    const stage = await start();
    const mine = await stage.logIn();
    await stage.identity.ownSessions.end(mine, await idOf(stage, mine));
    expect(await isOpen(stage, mine)).toBe(false);
  });

  it('a session of another user is not known', async () => {
    const stage = await start();
    const [mine, other] = [await stage.logIn(), await stage.logIn()];
    const id = await idOf(stage, other);
    await stage.run(`update "_Session" set "userId" = 'another' where "id" = ?`, id);
    expect(await codeOf(stage.identity.ownSessions.end(mine, id))).toBe('SESSION_UNKNOWN');
    expect(await stage.rows(`select 1 from "_Session" where "revokedAt" is not null`)).toEqual([]);
  });

  it('all other sessions are ended at once, with one audit entry', async () => {
    const stage = await start();
    const [mine, second, third] = [await stage.logIn(), await stage.logIn(), await stage.logIn()];
    expect(await stage.identity.ownSessions.endOthers(mine)).toBe(2);
    expect(await Promise.all([mine, second, third].map((origin) => isOpen(stage, origin)))).toEqual([true, false, false]);
    expect(await stage.identity.ownSessions.endOthers(mine)).toBe(0);
    expect(await stage.rows(`select "reason" from "_Decision" where "action" = 'revoke' order by "id"`)).toEqual([
      { reason: 'ended 2 other sessions' },
      { reason: 'ended 0 other sessions' },
    ]);
  });

  it.each(['list', 'end', 'endOthers', 'endCurrent'] as const)('%s requires a token', async (operation) => {
    const { identity } = await start();
    const call = identity.ownSessions[operation] as (origin: TokenOrigin, given: unknown) => Promise<unknown>;
    expect(await codeOf(call({ requestId: 'r1', ip: '192.0.2.1' }, operation === 'end' ? 'id' : {}))).toBe('IDENTITY_REQUIRED');
  });
});
