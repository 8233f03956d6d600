/** Admission to admin endpoints whose requests take long: the few places of long requests are for callers who are admitted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const LONG = ['policies-analytics', 'decisions/verify', 'decisions/histogram?bucket=hour', 'decisions/facets'];
const REQUESTS = Array.from({ length: 30 }, (_, index) => `/admin/api/${LONG[index % LONG.length]}`);

let service: RunningService;

beforeAll(async () => {
  service = await startService({ settings: { readers: 1, readerQueue: 1 } });
});
afterAll(() => service.close());

describe('the admission to admin endpoints whose requests take long', () => {
  it('refuses 30 requests at once with 403, although only one long request runs and one waits', async () => {
    const { id, token } = await service.user();
    const replies = await Promise.all(REQUESTS.map((path) => service.call('GET', path, { token })));
    expect(replies.map(({ status }) => status)).toEqual(REQUESTS.map(() => 403));
    const refused = await service.decisions(`kind=admin&userId=${id}&limit=100`);
    expect(refused).toHaveLength(REQUESTS.length);
    expect(new Set(refused.map(({ action }) => action))).toEqual(
      new Set(['analytics.read', 'decisions.verify', 'decisions.histogram', 'decisions.facets']),
    );
  });
});
