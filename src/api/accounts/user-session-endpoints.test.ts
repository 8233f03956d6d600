import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../authn/sessions.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

/** Opens a session of Ben; returns its id. */
async function open(): Promise<string> {
  const client = { ip: '192.0.2.9', userAgent: 'curl/8' };
  return (await admin.deps.database.transaction((tx) => openSession(tx, { userId: 'ben', client, seconds: 60 }))).sessionId;
}

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly count: number;
  readonly nextCursor?: string;
}
const list = (query = ''): Promise<Listed> => admin.bodyOf('admin.sessions.list', { params: { userId: 'ben' }, query });
const isListed = async (id: string): Promise<boolean> => (await list('limit=1000')).data.some((session) => session.id === id);

describe('the sessions of a user', () => {
  it('lists the sessions with address and user agent, in pages', async () => {
    const [older, newer] = [await open(), await open()];
    const page = await list('limit=1');
    expect(page).toMatchObject({ data: [{ id: newer, kind: 'bearer', ip: '192.0.2.9', userAgent: 'curl/8' }], count: 1 });
    expect((await list(`limit=1&cursor=${page.nextCursor}`)).data).toMatchObject([{ id: older }]);
    expect(JSON.stringify(page)).not.toContain('cookie');
  });

  it('an admin ends one of them', async () => {
    const [ended, kept] = [await open(), await open()];
    const { status } = await admin.send('admin.sessions.delete', { params: { userId: 'ben', sessionId: ended } });
    expect([status, await isListed(ended), await isListed(kept)]).toEqual([200, false, true]);
  });

  it('an admin ends all of them, and none of other users', async () => {
    await open();
    const before = (await list('limit=1000')).count;
    const body = await admin.bodyOf('admin.sessions.deleteAll', { params: { userId: 'ben' } });
    expect(body).toMatchObject({ data: { ended: before } });
    expect((await list()).data).toEqual([]);
    expect((await admin.bodyOf<Listed>('admin.sessions.list', { params: { userId: 'ada' } })).count).toBeGreaterThan(0);
  });

  it('a session under the id of another user is unknown, and stays open', async () => {
    const id = await open();
    const params = { userId: 'ann', sessionId: id };
    expect(await codeOf(admin.send('admin.sessions.delete', { params }))).toBe('SESSION_UNKNOWN');
    expect(await isListed(id)).toBe(true);
  });

  it.each(['list', 'deleteAll', 'delete'])('admin.sessions.%s refuses the id of an unknown user', async (operation) => {
    const params = { userId: 'unknown', ...(operation === 'delete' && { sessionId: 's1' }) };
    expect(await codeOf(admin.send(`admin.sessions.${operation}`, { params }))).toBe('USER_UNKNOWN');
  });

  it.each(['list', 'deleteAll', 'delete'])('admin.sessions.%s refuses a user who is not an admin', async (operation) => {
    const params = { userId: 'ann', sessionId: 's1' };
    expect(await codeOf(admin.send(`admin.sessions.${operation}`, { as: 'ann', params }))).toBe('ACCESS_ADMIN');
  });
});
