import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchEntries } from '../../audit/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestUser } from '../../pipeline/pipeline.fixture.ts';
import { type HttpRequest, type HttpResponse, parseQuery } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';
import type { OwnPermission } from './own-permissions.ts';

let test: TestPipeline;
beforeAll(async () => {
  const fields = { title: { type: 'string' }, authorId: { type: 'reference', to: 'User' } };
  test = await openPipeline({
    definitions: { Article: { fields }, Note: { fields: { text: { type: 'string' } } } },
    records: { Article: { a1: { title: 'x', authorId: 'ann' }, a2: { title: 'y', authorId: 'ben' } } },
    rules: [
      { resource: 'Article', action: 'read', conditions: [{ field: 'resource.authorId.name', operator: 'eq', value: 'Ann' }] },
      { resource: 'Article', action: 'update', conditions: [{ field: 'request.data.title', operator: 'eq', value: 'z' }] },
      { resource: 'Article', action: 'delete', conditions: [{ field: 'request.method', operator: 'eq', value: 'DELETE' }] },
      { resource: 'Article', action: 'export', conditions: [{ field: 'environment.ip', operator: 'cidr', value: '192.0.2.0/24' }] },
      { resource: 'Note', action: 'read', effect: 'DENY', conditions: [{ field: 'resource.text', operator: 'eq', value: 'hidden' }] },
    ],
  });
});
afterAll(() => test.dispose());

interface Asked {
  readonly response: HttpResponse | undefined;
  readonly charged: readonly number[];
}

async function ask(body: JsonObject, as: TestUser = 'ann'): Promise<Asked> {
  const charged: number[] = [];
  const route = createAuthRoutes(test.deps as unknown as ApiDeps, { hasSetup: true }).find(({ path }) => path === '/auth/me/permissions');
  const request = { method: 'POST', params: new Map(), query: parseQuery(''), body, header: () => undefined, origin: test.originOf(as) };
  return { response: await route?.handle(request as HttpRequest, (requests) => charged.push(requests)), charged };
}

async function effects(given: JsonObject): Promise<readonly string[]> {
  const { body } = (await ask(given)).response as HttpResponse;
  return (body as { readonly data: readonly OwnPermission[] }).data.map(({ effect }) => effect);
}

describe('own permissions', () => {
  it('reads the records that each record references', async () => {
    expect(await effects({ resource: 'Article', ids: ['a1', 'a2', 'missing'], actions: ['read'] })).toEqual(['allow', 'deny', 'deny']);
  });

  it.each([
    ['the data', 'update'],
    ['the method', 'delete'],
  ])('an action that depends on %s of the request is conditional', async (_, action) => {
    expect(await effects({ resource: 'Article', ids: ['a1'], actions: [action] })).toEqual(['conditional']);
  });

  it('decides with the address of the caller', async () => {
    expect(await effects({ resource: 'Article', actions: ['export'] })).toEqual(['allow']);
  });

  it('a DENY rule that reads a value of a missing record names itself, as the 403 of a request does', async () => {
    const { response } = await ask({ resource: 'Note', ids: ['missing'], actions: ['read'] });
    expect(response?.body).toMatchObject({
      data: [{ effect: 'deny', reason: expect.stringMatching(/^denied by rule/), policy: expect.any(String) }],
    });
  });

  it.each([
    [{ resource: 'Article' }, 1],
    [{ resource: 'Article', ids: ['a1', 'a2', 'a3'] }, 3],
  ])('%j counts as %i requests', async (body, requests) => {
    expect((await ask(body)).charged).toEqual([requests]);
  });

  it('a question that is too long is not kept in its audit entry', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `${index}`.padEnd(200, 'x'));
    const { response } = await ask({ resource: 'Article', ids, actions: ['read'] });
    const { entries } = await test.deps.database.transaction((tx) => searchEntries(tx, { limit: 1 }));
    expect(entries[0]).toMatchObject({
      id: response?.headers?.['x-decision-id'],
      kind: 'evaluation',
      facts: { question: { notKept: true } },
    });
  });

  it('an unknown resource is refused without an entry, to callers without a token too', async () => {
    const count = async () => (await test.deps.database.transaction((tx) => searchEntries(tx, { limit: 1000 }))).entries.length;
    const before = await count();
    for (const as of ['ann', 'anon'] as const) expect(await codeOf(ask({ resource: 'Nothing' }, as))).toBe('RESOURCE_UNKNOWN');
    expect(await count()).toBe(before);
  });
});
