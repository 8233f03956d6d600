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

describe('a successful response that is not JSON', () => {
  it('a response with broken JSON is a mistake, and is not repeated', async () => {
    const service = fakeService();
    service.answer(LIST, new Response('{"data":', { headers: { 'content-type': 'application/json' } }));
    await expect(service.client.article.list()).rejects.toBeInstanceOf(SyntaxError);
    expect(service.sent).toHaveLength(1);
  });

  it.each([
    ['text/html', '<!doctype html>', 'expected JSON, given text/html'],
    ['application/x-ndjson', '{"id":1}\n{"id":2}\n', 'expected JSON, given application/x-ndjson'],
    [undefined, '', 'expected JSON, given null'],
  ])('a response of the type %s is refused with its type', async (type, body, message) => {
    const service = fakeService();
    service.answer(
      LIST,
      new Response(new TextEncoder().encode(body), { ...(type !== undefined && { headers: { 'content-type': type } }) }),
    );
    await expect(service.client.article.list()).rejects.toThrow(new TypeError(message));
    expect(service.sent).toHaveLength(1);
  });

  it('a response without a body, such as to HEAD, has the value undefined', async () => {
    const service = fakeService();
    service.answer('/api/Article', new Response(null, { headers: { 'content-type': 'application/json; charset=utf-8' } }));
    expect(await service.client.send({ method: 'HEAD', path: '/api/Article' })).toBeUndefined();
  });
});
