import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACTIONS, BATCH_ACTIONS } from '../../actions.ts';
import { toImportLimits, toRequestLimits } from '../../component-options.ts';
import { parseConfig } from '../../config/config.ts';
import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { openPipeline, type TestPipeline } from '../../pipeline/pipeline.fixture.ts';
import { limits } from '../../request/http-request.fixture.ts';
import type { ChargeRequest, EndpointDescription, HttpResponse, Route } from '../../request/index.ts';
import type { ObjectSchema } from '../../schemas/index.ts';
import { resourceOf } from '../../storage/storage.fixture.ts';
import { createAjv } from '../../validation/index.ts';
import { recordEndpoints } from './record-endpoints.ts';
import { createApiRoutes } from './record-routes.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ definitions: { Page: { fields: { title: { type: 'string' } }, softDelete: true } } });
});
afterAll(() => pipeline.dispose());

interface SentBatch {
  readonly response: HttpResponse;
  /** Number of times that the body was read. */
  readonly reads: number;
}

function createRoutes(): readonly Route[] {
  const config = parseConfig({ flags: {}, env: {} });
  return createApiRoutes({ ...pipeline.deps, limits: toRequestLimits(config), importBounds: toImportLimits(config) });
}

async function sendBatch(body: Json, charge: ChargeRequest): Promise<SentBatch> {
  const route = createRoutes().find(({ path }) => path === '/api/batch');
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

/** Returns the schema of the item of a request that succeeds. */
function successSchema(): ObjectSchema {
  const page = resourceOf(pipeline.deps.policyStore.definitions, 'Page');
  const answer = recordEndpoints([page], limits).find(({ id }) => id === 'batch.run')?.answers[200];
  if (answer === undefined) throw new Error('no endpoint is named batch.run');
  const { properties } = answer.schema as unknown as { properties: { data: { items: { anyOf: readonly ObjectSchema[] } } } };
  return properties.data.items.anyOf[0] as ObjectSchema;
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

  it('the items of a batch have only members of their schema, with their types', async () => {
    const page = { resource: 'Page' };
    const filter = { title: 'new' };
    const items = [
      { ...page, action: 'create', data: { title: 'new' } },
      { ...page, action: 'read', data: { id: '$0.id' } },
      { ...page, action: 'update', id: '$0.id', data: { title: 'new' } },
      { ...page, action: 'createIfNotExists', data: { filter, data: { title: 'new' } } },
      { ...page, action: 'updateIfExists', data: { filter, data: { title: 'new' } } },
      { ...page, action: 'import', data: { data: [{ title: 'one' }, { title: 'two' }] } },
      { ...page, action: 'list', data: { limit: 1, total: true } },
      { ...page, action: 'list', data: { where: { title: { matches: 'x' } }, total: true } },
      { ...page, action: 'export', data: { limit: 1 } },
      { ...page, action: 'delete', data: { id: '$0.id' } },
      { ...page, action: 'listDeleted', data: {} },
      { ...page, action: 'restore', data: { id: '$0.id' } },
      { ...page, action: 'delete', data: { id: '$0.id', dryRun: true } },
      { ...page, action: 'schema', data: {} },
    ];
    expect(new Set(items.map(({ action }) => action))).toEqual(new Set(BATCH_ACTIONS.keys()));
    const { response } = await sendBatch({ requests: items }, () => undefined);
    const results = (response.body as { data: readonly JsonObject[] }).data;
    expect(results.filter(({ success }) => success !== true)).toEqual([]);
    const schema = successSchema();
    const seen = new Set(results.flatMap((each) => Object.keys(each)));
    expect([...seen].sort()).toEqual(Object.keys(schema.properties).sort());
    const validate = createAjv().compile(schema);
    expect(results.filter((each) => !validate(each))).toEqual([]);
  });
});

describe('the routes of records', () => {
  it('every route has a description, and every description a route', () => {
    const described = recordEndpoints([resourceOf(pipeline.deps.policyStore.definitions, 'Page')], limits);
    // Of the actions, these have routes of their own.
    const own = new Set(['import', 'export']);
    const toPattern = ({ method, path }: EndpointDescription): string => {
      const [, api, resource, last] = path.split('/');
      const name = resource === 'Page' ? ':resource' : resource;
      const isAction = last !== undefined && method === 'POST' && ACTIONS.has(last) && !own.has(last);
      return [method, ['', api, name, ...(last === undefined ? [] : [isAction ? ':action' : last])].join('/')].join(' ');
    };
    const routes = createRoutes().map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(described.map(toPattern))].toSorted()).toEqual(routes.toSorted());
  });
});
