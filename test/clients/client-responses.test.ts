/** Responses that come from a proxy or from another service. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeService } from './fake-service.ts';

const LIST = '/api/Article/list';

afterEach(() => {
  vi.useRealTimers();
});

describe('the pause that a response asks for', () => {
  it.each<[string, string | undefined, number | undefined]>([
    ['seconds', '60', 60],
    ['a date', 'Wed, 21 Oct 2015 08:28:00 GMT', 3600],
    ['a date in the past', 'Wed, 21 Oct 2015 07:00:00 GMT', undefined],
    ['no pause', '0', undefined],
    ['another text', 'soon', undefined],
    ['nothing', undefined, undefined],
  ])('`retryAfter` of a response with %s in `Retry-After` is the number of seconds', async (_, value, seconds) => {
    vi.useFakeTimers({ now: Date.UTC(2015, 9, 21, 7, 28), toFake: ['Date'] });
    const service = fakeService({ retries: 0 });
    service.answer(LIST, new Response('busy', { status: 503, ...(value !== undefined && { headers: { 'retry-after': value } }) }));
    await expect(service.client.article.list()).rejects.toHaveProperty('retryAfter', seconds);
  });
});
