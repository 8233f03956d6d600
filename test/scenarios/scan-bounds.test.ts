/** A list that the database cannot filter ends a page early, names the bound, and misses no record on later pages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';

const RECORDS = 5;

describe.each([
  [{ scanMilliseconds: 0 }, '0 ms (scanMilliseconds)'],
  [{ scanRows: 2 }, '2 rows (scanRows)'],
])('the bound %j', (settings, bound) => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  text: { type: string }\n' }, settings });
    for (let index = 0; index < RECORDS; index++) await service.createRecord('Note', { text: index === RECORDS - 1 ? 'last' : 'note' });
  });
  afterAll(() => service.close());

  async function pages(action: 'list' | 'export', pattern: string): Promise<readonly Reply[]> {
    const replies: Reply[] = [];
    for (let cursor: unknown; replies.length === 0 || cursor !== undefined; cursor = replies.at(-1)?.at('nextCursor')) {
      const body = { where: { text: { matches: pattern } }, ...(cursor !== undefined && { cursor }) };
      replies.push(await service.call('POST', `/api/Note/${action}`, { token: (await service.admin()).token, body }));
    }
    return replies;
  }

  it.each(['list', 'export'] as const)(
    `a page of %s names the bound ${bound} in a warning, even if it is empty, and the next page continues`,
    async (action) => {
      for (const [pattern, found] of [
        ['.', RECORDS],
        ['last', 1],
      ] as const) {
        const replies = await pages(action, pattern);
        expect(replies.length).toBeGreaterThan(2);
        expect(replies.flatMap((reply) => reply.at('data') as unknown[])).toHaveLength(found);
        for (const reply of replies) {
          expect(reply.at('warnings')).toEqual(reply.at('nextCursor') === undefined ? undefined : [expect.stringContaining(bound)]);
        }
      }
    },
  );

  it(`a list that the database filters has no warning with the bound ${bound}`, async () => {
    const reply = await service.call('GET', '/api/Note?where[text]=note&limit=1', { token: (await service.admin()).token });
    expect([reply.at('count'), reply.at('warnings'), typeof reply.at('nextCursor')]).toEqual([1, undefined, 'string']);
  });
});
