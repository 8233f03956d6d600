import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPipeline, type TestPipeline, type TestUser } from '../../pipeline/pipeline.fixture.ts';
import { type HttpRequest, type HttpResponse, parseQuery } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: { fields: { title: { type: 'string' }, noteId: { type: 'reference', to: 'Note' } } },
      Note: { fields: { text: { type: 'string' } } },
    },
    rules: [{ resource: 'Article', action: 'read' }],
  });
});
afterAll(() => test.dispose());

async function load(as: TestUser, ifNoneMatch?: string): Promise<HttpResponse> {
  const route = createAuthRoutes(test.deps as unknown as ApiDeps, { hasSetup: true }).find(({ path }) => path === '/auth/me/catalogue');
  const header = (name: string) => (name === 'if-none-match' ? ifNoneMatch : undefined);
  const request = { method: 'GET', params: new Map(), query: parseQuery(''), body: undefined, header, origin: test.originOf(as) };
  return (await route?.handle(request as unknown as HttpRequest, () => undefined)) as HttpResponse;
}

describe('GET /auth/me/catalogue', () => {
  it('describes the resources that the caller may use', async () => {
    expect((await load('ann')).body).toMatchObject({
      data: { resources: [{ definition: { name: 'Article' }, permissions: [{ action: 'read', effect: 'allow' }] }] },
    });
    expect((await load('anon')).body).toMatchObject({ data: { resources: [] } });
  });

  it('responds 304 to the ETag of the same catalogue, and not to that of another caller', async () => {
    const [ann, anon] = [await load('ann'), await load('anon')];
    expect((await load('ann', ann.headers?.['etag'])).status).toBe(304);
    expect((await load('ann', anon.headers?.['etag'])).status).toBe(200);
  });
});
