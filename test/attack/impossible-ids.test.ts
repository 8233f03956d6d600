/** Claims of trusted issuers as ids: they may contain characters that no id has, and that PostgreSQL refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/operators/index.ts';
import { handle } from '../../src/pipeline/handle.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../../src/pipeline/pipeline.fixture.ts';
import type { PipelineDeps } from '../../src/pipeline/request-context.ts';
import { openTestDatabase } from '../../src/storage/storage.fixture.ts';

const db = openTestDatabase();
let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    database: db.database,
    definitions: {
      Team: { fields: { name: { type: 'string' }, parentId: { type: 'reference', to: 'Team', hierarchy: true } } },
      User: {
        fields: {
          teamId: { type: 'reference', to: 'Team' },
          teamIds: { type: 'list', of: { type: 'reference', to: 'Team' } },
        },
      },
      Article: { fields: { title: { type: 'string' }, teamId: { type: 'reference', to: 'Team' } } },
    },
    records: { Team: { t1: { name: 'x' }, t2: { name: 'y' } }, Article: { a1: { title: 'b', teamId: 't1' } } },
    rules: [
      { resource: 'Article', action: 'read', conditions: [{ field: 'user.teamId.name', operator: 'eq', value: 'x' }] },
      { resource: 'Article', action: 'update', conditions: [{ field: 'user.teamIds.name', operator: 'eq', value: 'x' }] },
      { resource: 'Article', action: 'delete', conditions: [{ field: 'user.teamId', operator: 'within', value: ['t1'] }] },
      { resource: 'Article', action: 'list', conditions: [{ field: 'resource.teamId', operator: 'within', value: '${user.teamId}' }] },
      {
        resource: 'Article',
        action: 'create',
        conditions: [{ related: { resource: 'Article', as: 'a', on: { teamId: '${user.teamId}' } } }],
      },
    ],
  });
});
afterAll(() => db.dispose());

/** Handles a request with a token of an issuer. */
function handleWith(claims: JsonObject, request: Parameters<typeof toApiRequest>[0]): ReturnType<typeof handle> {
  const readToken: PipelineDeps['identity']['readToken'] = async () => ({
    issuer: 'https://issuer.example.com',
    subject: 'https://issuer.example.com|s1',
    expires: Date.now() / 1000 + 1000,
    claims: { role: 'user', ...claims },
  });
  return handle({ ...test.deps, identity: { ...test.deps.identity, readToken } }, toApiRequest(request), test.originOf('ann'));
}

describe.each([
  ['NUL', 'a\0'],
  ['half of a surrogate pair', '\ud800'],
])('a claim with %s', (_, id) => {
  it.each([
    { action: 'read', id: 'a1' },
    { action: 'update', id: 'a1', data: {} },
    { action: 'delete', id: 'a1' },
    { action: 'create', data: { title: 'c', teamId: 't1' } },
  ] as const)('belongs to no record: $action is denied and recorded', async (request) => {
    const before = (await test.entries()).length;
    for (const teamIds of [[id], [id, 't2']])
      expect(await handleWith({ teamId: id, teamIds }, { resource: 'Article', ...request })).toMatchObject({
        problem: { code: 'ACCESS_DENIED' },
      });
    const entries = (await test.entries()).slice(before);
    expect(entries.map(({ action, allowed }) => [action, allowed])).toEqual([
      [request.action, false],
      [request.action, false],
    ]);
  });

  it('belongs to no ancestor of a listed record', async () => {
    expect(await handleWith({ teamId: id }, { resource: 'Article', action: 'list' })).toMatchObject({ result: { data: [] } });
    expect(await handleWith({ teamId: 't1' }, { resource: 'Article', action: 'list' })).toMatchObject({ result: { data: [{ id: 'a1' }] } });
  });
});
