import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';
import { createDatabaseUrl, onPostgres } from '../postgres/test-database.ts';

const definitions = {
  'Article.yaml': 'name: Article\nfields: { title: { type: string } }',
  'Comment.yaml': 'name: Comment\nfields: { text: { type: string } }',
  'Page.yaml': 'name: Page\nfields: { text: { type: string } }',
};

let service: RunningService;
beforeAll(async () => {
  service = await startService({ definitions, settings: { denialWindowSeconds: 60 } });
  await service.admin();
});
afterAll(() => service.close());

/** Returns the entries of callers without a token. */
const stored = (resource: string) => service.decisions(`resource=${resource}&kind=access&role=anon&limit=1000`);
const idOf = ({ headers }: Reply): unknown => headers['x-decision-id'];

describe('repeated denials of callers without a token', () => {
  it('repeated denials have one entry, whose id all responses name', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => service.call('GET', '/api/Article')));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403]));
    const entries = await stored('Article');
    const ids = new Set(entries.map(({ id }) => id));
    expect([...new Set(replies.map(idOf))].filter((id) => !ids.has(id))).toEqual([]);
    expect(replies.map((reply) => reply.at('decisionId'))).toEqual(replies.map(idOf));
    // On PostgreSQL, two commits at the same time can each begin a window.
    expect(entries.length).toBeLessThan(onPostgres ? 15 : 2);
    const [next, again] = [await service.call('GET', '/api/Article'), await service.call('GET', '/api/Article')];
    expect([idOf(next), ids.has(idOf(next))]).toEqual([idOf(again), true]);
  });

  it('repeated denials of a batch share an entry', async () => {
    const requests = Array.from({ length: 20 }, () => ({ resource: 'Comment', action: 'list', data: {} }));
    const { body } = await service.call('POST', '/api/batch', { body: { requests } });
    const ids = (body as { data: readonly { decisionId: string }[] }).data.map(({ decisionId }) => decisionId);
    expect((await stored('Comment')).map(({ id }) => id)).toEqual([...new Set(ids)]);
    const failed = await service.call('POST', '/api/batch', { body: { requests, atomic: true } });
    expect([failed.status, failed.at('decisionId')]).toEqual([403, ids[0]]);
  });

  it('repeated denials of exports and imports share an entry', async () => {
    const first = idOf(await service.call('POST', '/api/Page/export?format=csv', { body: {} }));
    expect(idOf(await service.call('POST', '/api/Page/export?format=csv', { body: {} }))).toBe(first);
    const file = { raw: '{"text":"a"}\n{"text":"b"}\n', headers: { 'content-type': 'application/x-ndjson' } };
    const imported = await service.call('POST', '/api/Page/import', file);
    expect([imported.status, idOf(await service.call('POST', '/api/Page/import', file))]).toEqual([403, idOf(imported)]);
    expect((await stored('Page')).map(({ id }) => id).toSorted()).toEqual([first, idOf(imported)].toSorted());
  });

  it('denials of users have an entry each', async () => {
    const { token, id } = await service.user();
    for (let count = 0; count < 3; count++) await service.call('GET', '/api/Article', { token });
    expect((await service.decisions(`userId=${id}&allowed=false`)).length).toBe(3);
  });
});

describe('denialWindowSeconds', () => {
  it('0 stores an entry for each denial, with the same analytics', async () => {
    const counts: unknown[] = [];
    for (const denialWindowSeconds of [0, 60]) {
      const other = await startService({ definitions, settings: { denialWindowSeconds } });
      const { token } = await other.admin();
      for (let count = 0; count < 5; count++) await other.call('GET', '/api/Article');
      const analytics = await other.call('GET', '/admin/api/policies-analytics?timeframe=1d', { token });
      counts.push([analytics.at('data.accessDenials'), analytics.at('data.topResources')]);
      expect((await other.decisions('resource=Article')).length).toBe(denialWindowSeconds === 0 ? 5 : 1);
      await other.close();
    }
    expect(counts[0]).toEqual([5, [{ resource: 'Article', grants: 0, denials: 5, total: 5 }]]);
    expect(counts[1]).toEqual(counts[0]);
  });
});

/** Returns the number of denials or questions that entries stand for. */
function sumOf(entries: readonly Readonly<Record<string, unknown>>[]): number {
  return entries.reduce((total, { kind, facts }) => total + (kind === 'repeat' ? (facts as { count: number }).count : 1), 0);
}

// At the same time, because a window is closed seconds after its end.
describe.concurrent('entries of kind repeat', () => {
  it('records the number when the window has ended, and two services count all denials', async () => {
    const settings = {
      denialWindowSeconds: 1,
      jwtSecret: 'one secret for both services of the test',
      ...(onPostgres && { database: createDatabaseUrl('') }),
    };
    const one = await startService({ definitions, settings });
    const two = onPostgres ? await startService({ definitions, settings }) : one;
    await one.admin();
    const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? one : two).call('GET', '/api/Article')));
    const load = () => one.decisions('resource=Article&limit=1000');
    while (sumOf(await load()) < 60) await new Promise((resolve) => setTimeout(resolve, 100));
    const entries = await load();
    const repeat = entries.find(({ kind }) => kind === 'repeat');
    expect(sumOf(entries)).toBe(60);
    expect(repeat).toMatchObject({ allowed: false, role: 'anon', action: 'list', ip: '127.0.0.0/24', reason: replies[0]?.at('detail') });
    const shown = await one.call('GET', `/admin/api/decisions/${repeat?.['id']}`, { token: (await one.admin()).token });
    expect([shown.status, shown.at('data.facts.count'), shown.at('data.trace')]).toEqual([200, sumOf([repeat ?? {}]), undefined]);
    await Promise.all([one.close(), ...(two === one ? [] : [two.close()])]);
  });

  it('repeated questions about own permissions without a token share an entry, and their number is recorded', async () => {
    const counting = await startService({ definitions, settings: { denialWindowSeconds: 1 } });
    try {
      const { token } = await counting.admin();
      const send = () => counting.call('POST', '/auth/me/permissions', { body: { resource: 'Article' } });
      const ids = new Set((await Promise.all(Array.from({ length: 40 }, send))).map(idOf));
      expect(ids.size).toBeLessThan(40);
      const load = () => counting.decisions('resource=Article&limit=1000');
      while (sumOf(await load()) < 40) await new Promise((resolve) => setTimeout(resolve, 100));
      const entries = await load();
      expect(sumOf(entries)).toBe(40);
      expect(entries.find(({ kind }) => kind === 'repeat')).toMatchObject({ allowed: true, action: 'permissions', role: 'anon' });
      const { body } = await counting.call('GET', '/admin/api/policies-analytics?timeframe=1d', { token });
      expect(body).toMatchObject({ data: { accessGrants: 0, accessDenials: 0, topResources: [] } });
    } finally {
      await counting.close();
    }
  });
});
