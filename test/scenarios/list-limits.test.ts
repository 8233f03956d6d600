/** Limits of lists that are checked in two places must agree: sort keys and the length of cursors. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const FIELDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const ITEM = ['name: Item', 'fields:', '  title: { type: text }', ...FIELDS.map((name) => `  ${name}: { type: integer }`)].join('\n');

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Item.yaml': ITEM }, settings: { sortKeys: 10 } });
  ({ token } = await service.admin());
  for (let index = 0; index < 3; index++) {
    const title = '漢'.repeat(996 - index);
    await service.call('POST', '/api/Item', { token, body: { title, ...Object.fromEntries(FIELDS.map((name) => [name, index])) } });
  }
});
afterAll(() => service.close());

it('a list sorts by as many fields as the setting sortKeys allows', async () => {
  const reply = await service.call('GET', `/api/Item?sort=${FIELDS.join(',')}`, { token });
  expect([reply.status, reply.at('count')]).toEqual([200, 3]);
});

it('a cursor that contains the longest sort values is accepted', async () => {
  const first = await service.call('GET', '/api/Item?sort=-title&limit=1', { token });
  const cursor = String(first.at('nextCursor'));
  expect(cursor.length).toBeGreaterThan(4096);
  const second = await service.call('GET', `/api/Item?sort=-title&limit=1&cursor=${cursor}`, { token });
  expect([second.status, String(second.at('data.0.title')).length]).toEqual([200, 995]);
});
