import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toImportLimits, toRequestLimits } from '../../component-options.ts';
import { parseConfig } from '../../config/config.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { openPipeline, type TestPipeline } from '../../pipeline/pipeline.fixture.ts';
import type { ChargeRequest, HttpResponse } from '../../request/index.ts';
import { createApiRoutes } from './record-endpoints.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ definitions: { Page: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => pipeline.dispose());

interface SentBatch {
  readonly response: HttpResponse;
  /** Number of times that the body was read. */
  readonly reads: number;
}

async function sendBatch(body: Json, charge: ChargeRequest): Promise<SentBatch> {
  const config = parseConfig({ flags: {}, env: {} });
  const routes = createApiRoutes({ ...pipeline.deps, limits: toRequestLimits(config), importBounds: toImportLimits(config) });
  const route = routes.find(({ path }) => path === '/api/batch');
  if (route === undefined) throw new Error('no route is named /api/batch');
  let reads = 0;
  const request = {
    method: 'POST' as const,
    params: new Map(),
    query: new Map(),
    get body() {
      reads++;
      return body;
    },
    header: () => undefined,
    origin: pipeline.originOf('ada'),
  };
  return { response: await route.handle(request, charge), reads };
}

describe('POST /api/batch', () => {
  const requests = ['a', 'b', 'c'].map((title) => ({ resource: 'Page', action: 'create', data: { title } }));

  it('a batch is parsed once, and counts as the number of its requests', async () => {
    const charged: number[] = [];
    const { response, reads } = await sendBatch({ requests }, (count) => charged.push(count));
    expect(response.status).toBe(200);
    expect([charged, reads]).toEqual([[3], 1]);
  });

  it('a batch above the rate limit changes nothing', async () => {
    const before = (await pipeline.rows('Page')).length;
    const refuse = (): never => {
      throw new Problem('REQUEST_RATE', 'the rate limit is exceeded');
    };
    await expect(sendBatch({ requests }, refuse)).rejects.toThrow(Problem);
    expect(await pipeline.rows('Page')).toHaveLength(before);
  });
});
