/** The stream and the export of the audit log: callers without a right, tokens of other sessions or past their time, and hostile filters. */
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventStream } from '../event-stream.ts';
import type { Reply, TestUser } from '../harness.ts';
import { type AttackTarget, checkAttacks, expectDiscreet, startAttackTarget } from './attack-target.ts';

const SECRET = 'a secret of this test alone, with enough characters';
const STREAM = '/admin/api/decisions/stream?seconds=0';
const EXPORT = '/admin/api/decisions/export?format=ndjson';

let target: AttackTarget;
let admin: TestUser;
/** A user who may read and export the entries about cases alone. */
let auditor: TestUser;
/** The position before the entries that the tests read. */
let position = '';
beforeAll(async () => {
  target = await startAttackTarget({ jwtSecret: SECRET });
  admin = await target.admin();
  auditor = await target.user();
  const conditions = [{ field: 'resource.resource', operator: 'eq', value: 'Case' }];
  const rules = ['read', 'export'].map((action) => ({ resource: '_Decision', action, conditions }));
  await target.createPolicy({ userId: auditor.id, rules });
  const { text } = await target.call('GET', STREAM, { token: admin.token });
  position = /^id: (\S+)$/m.exec(text)?.[1] ?? '';
  for (const path of ['/api/Case', '/api/User', '/admin/api/policies']) await target.as('admin', 'GET', path);
  await target.as('anon', 'GET', '/auth/me');
});
afterAll(() => target.close());

const read = (path: string, token: string): Promise<Reply> => target.call('GET', path, { token });

/** Returns the entries in a file or a stream. */
function entriesOf(reply: Reply): readonly Readonly<Record<string, unknown>>[] {
  const lines = reply.text.split('\n').map((line) => line.replace(/^data: /, ''));
  const values = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  // The end of a stream has no id.
  return values.filter(({ id }) => id !== undefined);
}

/** Signs a token of the admin with other claims. */
function sign({ session, expires }: { readonly session: string; readonly expires: number }): Promise<string> {
  const { iss, aud } = decodeJwt(admin.token);
  return new SignJWT({ sid: session, role: 'admin' })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer(String(iss))
    .setAudience(String(aud))
    .setSubject(admin.id)
    .setIssuedAt(Math.min(now(), expires - 60))
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(SECRET));
}

const sessionOf = ({ token }: TestUser): string => String(decodeJwt(token)['sid']);
const now = (): number => Math.floor(Date.now() / 1000);
/** Seconds for which an expired token is accepted, because clocks differ. */
const TOLERANCE = 30;

describe('the stream and the export of the audit log', () => {
  const attacks = [STREAM, EXPORT, `${STREAM}&userId=`, `${EXPORT}&resource=Case`].flatMap((path) => [
    { name: `without a token: ${path}`, as: 'anon' as const, send: `GET ${path}`, answers: [400, 401] },
    { name: `without a right: ${path}`, as: ['alice', 'eve'] as const, send: `GET ${path}`, answers: [400, 403] },
  ]);
  checkAttacks(() => target, attacks, 'refuses a reader ');

  it.each([STREAM, EXPORT])('refuses a token of an admin with the session of another user: %s', async (path) => {
    const expires = now() + 600;
    expect((await read(path, await sign({ session: sessionOf(admin), expires }))).status).toBe(200);
    const reply = await read(path, await sign({ session: sessionOf(auditor), expires }));
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_TOKEN']);
  });

  it.each([STREAM, EXPORT])('refuses an expired token, also to resume: %s', async (path) => {
    const token = await sign({ session: sessionOf(admin), expires: now() - TOLERANCE - 5 });
    const reply = await target.call('GET', path, { token, headers: { 'last-event-id': position } });
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_TOKEN_EXPIRED']);
  });

  it('the stream sends no entry after the token has expired', async () => {
    const token = await sign({ session: sessionOf(admin), expires: now() - TOLERANCE + 2 });
    const stream = await openEventStream(`${target.url}/admin/api/decisions/stream?resource=Case&seconds=10`, {
      authorization: `Bearer ${token}`,
    });
    const end = await stream.find(({ name }) => name === 'end');
    await target.as('admin', 'GET', '/api/Case');
    await stream.ended;
    expect([end.data['reason'], stream.events.at(-1)]).toEqual(['expired', end]);
    const resumed = await target.call('GET', STREAM, { token, headers: { 'last-event-id': stream.lastId() ?? '' } });
    expect(resumed.status).toBe(401);
  });

  it('the auditor reads entries about cases', async () => {
    for (const path of [`${STREAM}&after=${position}`, EXPORT]) {
      const entries = entriesOf(await read(path, auditor.token));
      expect(new Set(entries.map(({ resource }) => resource)), path).toEqual(new Set(['Case']));
      for (const entry of entries) expect(entry).not.toHaveProperty('facts');
    }
  });

  const filters = [
    ...['resource=User', 'resource=*', 'resource=', 'resource=_Decision', 'resource=Case&resource=User', 'resource[]=User'],
    ...['resource[ne]=Case', 'where[resource]=User', 'or[0][resource]=User', 'kind=auth', 'kind=admin', 'kind=nothing', 'role=admin'],
    ...["userId=' OR 1=1 --", "resource=Case' OR 'a'='a", 'userId=%', 'recordId=_', 'action=\u0000', 'ip=*', '__proto__[resource]=User'],
    ...[`userId=${'x'.repeat(5000)}`, 'from=0000-00-00', 'to=1e400', 'from=2999-01-01', 'order=newest;--', 'limit=-1', 'names=true'],
    ...['cursor=x', 'facts=true', 'after=', 'after=..', 'after=zzzzzzzz', 'seconds=-1', 'seconds=1e9'],
  ];
  it.each(filters.map((filter) => [JSON.stringify(filter.slice(0, 40)), filter]))(
    'a hostile filter shows the auditor no further entry: %s',
    async (_, filter) => {
      const query = encodeURI(filter);
      for (const path of [`${STREAM}${filter.startsWith('after') ? '' : `&after=${position}`}&${query}`, `${EXPORT}&${query}`]) {
        const reply = await read(path, auditor.token);
        expectDiscreet(reply);
        // PostgreSQL stores no NUL characters.
        expect([200, 400, 422], `${path}: ${reply.text}`).toContain(reply.status);
        for (const { resource, facts } of reply.status === 200 ? entriesOf(reply) : [])
          expect([resource, facts]).toEqual(['Case', undefined]);
      }
    },
  );
});
