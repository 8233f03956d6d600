import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestUser } from '../../pipeline/pipeline.fixture.ts';
import { type HttpRequest, type HttpResponse, parseQuery } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => test.dispose());

interface Sent {
  readonly name?: string;
  readonly body?: Json;
  readonly ifMatch?: string;
  readonly as?: TestUser;
}

async function send(method: string, { name, body, ifMatch, as = 'ann' }: Sent = {}): Promise<HttpResponse> {
  const route = createAuthRoutes(test.deps as unknown as ApiDeps, { hasSetup: true }).find(
    (each) => each.path === '/auth/me/views' && each.method === method,
  );
  const query = parseQuery(new URLSearchParams(name === undefined ? {} : { name }).toString());
  const header = (wanted: string) => (wanted === 'if-match' ? ifMatch : undefined);
  const request = { method, params: new Map(), query, body, header, origin: test.originOf(as) };
  return (await route?.handle(request as HttpRequest, () => undefined)) as HttpResponse;
}

const BODY = { screen: 'decisions', query: { allowed: false } };

describe('the endpoints of saved views', () => {
  it('the first version is 201 and later ones are 200, each with its ETag', async () => {
    const first = await send('PUT', { name: 'one', body: BODY });
    expect([first.status, first.headers]).toEqual([201, { 'cache-control': 'no-store', etag: '"1"' }]);
    const second = await send('PUT', { name: 'one', body: BODY, ifMatch: '*' });
    expect([second.status, second.headers?.['etag']]).toEqual([200, '"2"']);
    expect((await send('GET')).body).toMatchObject({
      data: expect.arrayContaining([{ name: 'one', ...BODY, version: 2, updatedAt: expect.any(String) }]),
    });
  });

  it('a view is not replaced without its ETag, and keeps its version', async () => {
    await send('PUT', { name: 'two', body: BODY });
    expect(await codeOf(send('PUT', { name: 'two', body: BODY }))).toBe('RECORD_VERSION_REQUIRED');
    expect(await codeOf(send('PUT', { name: 'two', body: BODY, ifMatch: '"7"' }))).toBe('RECORD_VERSION');
    expect((await send('PUT', { name: 'two', body: BODY, ifMatch: '"1"' })).headers?.['etag']).toBe('"2"');
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s requires a caller with an id', async (method) => {
    const sent = method === 'GET' ? {} : { name: 'one', ...(method === 'PUT' && { body: BODY }) };
    expect(await codeOf(send(method, { ...sent, as: 'anon' }))).toBe('IDENTITY_REQUIRED');
  });
});
