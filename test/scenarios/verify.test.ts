/** An admin verifies the audit log over HTTP, page by page. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

let service: RunningService;
let token: string;

beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
  token = (await service.admin()).token;
  for (let time = 0; time < 7; time++) await service.call('GET', '/api/Note', { token });
});
afterAll(() => service.close());

it('an intact audit log has no breaks, in one page or many', async () => {
  const all = await service.call('GET', '/admin/api/decisions/verify?limit=10000', { token });
  expect([all.status, all.at('data')]).toMatchObject([200, { whole: true, notChained: 0, breaks: [], breakCount: 0 }]);
  let [entries, pages, cursor]: [number, number, string | undefined] = [0, 0, ''];
  while (cursor !== undefined) {
    const page = await service.call('GET', `/admin/api/decisions/verify?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`, { token });
    expect(page.at('data')).toMatchObject({ whole: true });
    entries += page.at('data.entries') as number;
    pages++;
    cursor = page.at('nextCursor') as string | undefined;
  }
  expect(entries).toBe(all.at('data.entries'));
  expect(pages).toBeGreaterThan(3);
});

it('a verification has no audit entry', async () => {
  const before = (await service.decisions('limit=1000')).length;
  await service.call('GET', '/admin/api/decisions/verify', { token });
  expect(await service.decisions('limit=1000')).toHaveLength(before);
});

it.each(['cursor=x', 'cursor=', 'limit=0', 'limit=10001', 'from=1'])('a verification is refused for %s', async (query) => {
  expect((await service.call('GET', `/admin/api/decisions/verify?${query}`, { token })).status).toBe(400);
});
