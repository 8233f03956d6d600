import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type Stage } from './scenario.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await startNewsroom();
  const { service, kept } = stage;
  await service.createPolicy({
    name: 'own articles',
    userId: kept.get('maya') as string,
    rules: ['list', 'read', 'update', 'create', 'export'].map((action) => ({
      resource: 'Article',
      action,
      description: `own: ${action}`,
      conditions: [{ field: 'resource.authorId', operator: 'eq', value: '${user.id}' }],
    })),
  });
});
afterAll(() => stage.service.close());

describe('the generic resource API', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'create: generates the id, fills defaults, answers with the record, its ETag and its address',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'First', slug: 'first', authorId: '{maya}' },
        status: 201,
        body_has: { data: { title: 'First', status: 'draft', version: 1, createdBy: '{admin}' } },
        keep: { first: 'data.id' },
        entries: [{ resource: 'Article', action: 'create', allowed: true, kind: 'access' }],
      },
      {
        name: 'create: another, by someone else',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Second', slug: 'second', authorId: '{admin}', status: 'published' },
        status: 201,
        keep: { second: 'data.id' },
        entries: [{ action: 'create', allowed: true }],
      },
      {
        name: 'create: decides on the record as it would be',
        as: 'maya',
        send: 'POST /api/Article',
        body: { title: 'Not mine', slug: 'not-mine', authorId: '{admin}' },
        status: 403,
        body_has: { code: 'ACCESS_DENIED', detail: 'no rule matched' },
        entries: [{ action: 'create', allowed: false, reason: 'no rule matched' }],
      },
      {
        name: 'create: every mistake in the values at once, after the decision',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 7, slug: 'Not A Slug', authorId: 'nobody', status: 'drft', color: 'red' },
        status: 422,
        body_has: { code: 'VALUE_INVALID' },
        entries: [{ action: 'create', allowed: true, outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'create: who is denied does not learn what is wrong with the values',
        as: 'reader',
        send: 'POST /api/Article',
        body: { title: 7 },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'create', allowed: false }],
      },
      {
        name: 'create: a unique value that is taken',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Again', slug: 'first', authorId: '{maya}' },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'slug' }] },
        entries: [{ action: 'create', allowed: true, outcome: 'RECORD_EXISTS' }],
      },
      {
        name: 'create: a reference to nothing',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Lost', slug: 'lost', authorId: '01900000-0000-7000-8000-000000000000' },
        status: 422,
        body_has: { errors: [{ path: 'authorId' }] },
        entries: [{ allowed: true, outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'read one',
        as: 'maya',
        send: 'GET /api/Article/{first}',
        status: 200,
        body_has: { data: { id: '{first}', title: 'First' } },
        entries: [{ action: 'read', recordId: '{first}', allowed: true, reason: 'allowed by rule "own: read" of policy "own articles"' }],
      },
      {
        name: 'read: denied where the condition is not met, in the same words as for a record that does not exist',
        as: 'maya',
        send: 'GET /api/Article/{second}',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [{ action: 'read', allowed: false }],
      },
      {
        name: 'read: a record that does not exist, where the answer depends on it',
        as: 'maya',
        send: 'GET /api/Article/01900000-0000-7000-8000-000000000000',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [{ action: 'read', allowed: false }],
      },
      {
        name: 'read: a record that does not exist, where the answer does not depend on it',
        as: 'admin',
        send: 'GET /api/Article/01900000-0000-7000-8000-000000000000',
        status: 404,
        body_has: { code: 'RECORD_UNKNOWN' },
        entries: [{ action: 'read', allowed: true, outcome: 'RECORD_UNKNOWN' }],
      },
      {
        name: 'list: exactly the records that reading one by one allows; totals count those alone',
        as: 'maya',
        send: 'GET /api/Article?total=true',
        status: 200,
        body_has: { count: 1, total: 1, data: [{ id: '{first}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'list: filter, sort and limit',
        as: 'admin',
        send: 'GET /api/Article?where[status]=published&sort=-createdAt&limit=5',
        status: 200,
        body_has: { count: 1, data: [{ id: '{second}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'list: denied for all',
        as: 'reader',
        send: 'GET /api/Article',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'list', allowed: false }],
      },
      {
        name: 'list: without a token is anon',
        send: 'GET /api/Article',
        status: 403,
        body_has: { detail: 'no policies found for role anon' },
        entries: [{ role: 'anon', allowed: false, reason: 'no policies found for role anon' }],
      },
      {
        name: 'update: the given fields only',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { title: 'First, again' },
        headers: { 'if-match': '"1"' },
        status: 200,
        body_has: { data: { title: 'First, again', slug: 'first', version: 2 } },
        entries: [{ action: 'update', recordId: '{first}', allowed: true }],
      },
      {
        name: 'update: refused on a version that has passed',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { title: 'Lost update' },
        headers: { 'if-match': '"1"' },
        status: 412,
        body_has: { code: 'RECORD_VERSION' },
        entries: [{ action: 'update', allowed: true, outcome: 'RECORD_VERSION' }],
      },
      {
        name: 'update: decided again on the record as it would become',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { authorId: '{admin}' },
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [{ action: 'update', recordId: '{first}', allowed: false }],
      },
      {
        name: 'schema: for who may read or list',
        as: 'maya',
        send: 'GET /api/Article/schema',
        status: 200,
        body_has: { data: { name: 'Article' } },
        entries: [{ resource: 'Article', action: 'read', allowed: true }],
      },
      {
        name: 'schema: denied like anything else',
        as: 'reader',
        send: 'GET /api/Article/schema',
        status: 403,
        entries: [{ allowed: false }],
      },
      {
        name: 'createIfNotExists: creates where nothing matches',
        as: 'admin',
        send: 'POST /api/Article/createIfNotExists',
        body: { filter: { slug: 'third' }, data: { title: 'Third', slug: 'third', authorId: '{maya}' } },
        status: 201,
        body_has: { created: true, data: { slug: 'third' } },
        keep: { third: 'data.id' },
        entries: [
          { action: 'create', allowed: true },
          { action: 'read', allowed: true },
        ],
      },
      {
        name: 'createIfNotExists: answers with the match: two decisions, two entries',
        as: 'admin',
        send: 'POST /api/Article/createIfNotExists',
        body: { filter: { slug: 'third' }, data: { title: 'Third', slug: 'third', authorId: '{maya}' } },
        status: 200,
        body_has: { created: false, data: { id: '{third}' } },
        entries: [
          { action: 'create', allowed: true },
          { action: 'read', recordId: '{third}', allowed: true },
        ],
      },
      {
        name: 'updateIfExists: applies data to the one match',
        as: 'maya',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: 'third' }, data: { title: 'Third, better' } },
        status: 200,
        body_has: { updated: true, data: { title: 'Third, better' } },
        entries: [
          { action: 'update', recordId: '{third}', allowed: true },
          { action: 'read', recordId: '{third}', allowed: true },
        ],
      },
      {
        name: 'updateIfExists: nothing where none matches',
        as: 'admin',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: 'tenth' }, data: { title: 'Tenth' } },
        status: 200,
        body_has: { updated: false },
        entries: [
          { action: 'update', allowed: true },
          { action: 'read', allowed: true },
        ],
      },
      {
        name: 'updateIfExists: several matches are refused and none is changed',
        as: 'admin',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { authorId: '{maya}' }, data: { title: 'All of them' } },
        status: 409,
        body_has: { code: 'RECORD_AMBIGUOUS' },
        entries: [
          { action: 'update', outcome: 'RECORD_AMBIGUOUS' },
          { action: 'read', outcome: 'RECORD_AMBIGUOUS' },
        ],
      },
      {
        name: 'createIfNotExists: a filter by a field that is none, or secret',
        as: 'admin',
        send: 'POST /api/Tip/createIfNotExists',
        body: { filter: { contact: 'x', nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 400,
        body_has: {
          code: 'REQUEST_FIELD',
          errors: [
            { path: 'filter.contact', code: 'field' },
            { path: 'filter.nothing', code: 'field' },
          ],
        },
        entries: [
          { action: 'create', allowed: true, outcome: 'REQUEST_FIELD' },
          { action: 'read', allowed: true, outcome: 'REQUEST_FIELD' },
        ],
      },
      {
        name: 'createIfNotExists: who is denied does not learn from it which fields there are',
        as: 'reader',
        send: 'POST /api/Tip/createIfNotExists',
        body: { filter: { nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'create', allowed: false }],
      },
      {
        name: 'updateIfExists: a filter by a field that is none, or secret',
        as: 'admin',
        send: 'POST /api/Tip/updateIfExists',
        body: { filter: { contact: 'x', nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 400,
        body_has: {
          code: 'REQUEST_FIELD',
          errors: [
            { path: 'filter.contact', code: 'field' },
            { path: 'filter.nothing', code: 'field' },
          ],
        },
        entries: [
          { action: 'update', allowed: true, outcome: 'REQUEST_FIELD' },
          { action: 'read', allowed: true, outcome: 'REQUEST_FIELD' },
        ],
      },
      {
        name: 'updateIfExists: who is denied does not learn from it which fields there are',
        as: 'reader',
        send: 'POST /api/Tip/updateIfExists',
        body: { filter: { nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'update', allowed: false }],
      },
      {
        name: 'updateIfExists: a filter takes the operators of where',
        as: 'maya',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: { in: ['third', 'thirteenth'] }, title: { endsWith: 'better' } }, data: { title: 'Third, best' } },
        status: 200,
        body_has: { updated: true, data: { id: '{third}', title: 'Third, best' } },
        entries: [{ action: 'update' }, { action: 'read' }],
      },
      {
        name: 'updateIfExists: an operator that does not fit the field',
        as: 'maya',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { title: { hasAny: ['x'] }, slug: { equals: 'third' }, fee: { gt: null } }, data: {} },
        status: 400,
        body_has: {
          code: 'REQUEST_PARAMETER',
          errors: [{ path: 'filter.title.hasAny' }, { path: 'filter.slug.equals' }, { path: 'filter.fee.gt' }],
        },
        entries: [{ action: 'update' }, { action: 'read' }],
      },
      {
        name: 'updateIfExists: decided on the record as it would become',
        as: 'maya',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: 'third' }, data: { authorId: '{admin}' } },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [
          { action: 'update', recordId: '{third}', allowed: false },
          { action: 'read', recordId: '{third}', allowed: true, outcome: 'ACCESS_DENIED' },
        ],
      },
      {
        name: 'every action by name',
        as: 'maya',
        send: 'POST /api/Article/list',
        body: { where: { title: { startsWith: 'Third' } }, limit: 10 },
        status: 200,
        body_has: { count: 1, data: [{ id: '{third}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'import: each record decided by itself',
        as: 'admin',
        send: 'POST /api/Article/import',
        body: {
          data: [
            { title: 'Imported 1', slug: 'imported-1', authorId: '{maya}' },
            { title: 'Imported 2', slug: 'imported-2', authorId: '{admin}' },
          ],
        },
        status: 201,
        body_has: { count: 2 },
        entries: [
          { action: 'import', allowed: true },
          { action: 'import', allowed: true },
        ],
      },
      {
        name: 'export: the rows that the policy allows',
        as: 'maya',
        send: 'POST /api/Article/export',
        body: { sort: 'slug' },
        status: 200,
        body_has: { count: 3 },
        entries: [{ action: 'export', allowed: true }],
      },
      {
        name: 'delete: refused while records refer to it',
        as: 'admin',
        send: 'DELETE /api/User/{maya}',
        status: 409,
        body_has: { code: 'RECORD_REFERENCED' },
        entries: [{ resource: 'User', action: 'delete', allowed: true, outcome: 'RECORD_REFERENCED' }],
      },
      {
        name: 'delete: denied',
        as: 'maya',
        send: 'DELETE /api/Article/{first}',
        status: 403,
        entries: [{ action: 'delete', allowed: false }],
      },
      {
        name: 'delete',
        as: 'admin',
        send: 'DELETE /api/Article/{second}',
        status: 200,
        body_has: { data: { id: '{second}' } },
        entries: [{ action: 'delete', recordId: '{second}', allowed: true }],
      },
      {
        name: 'an unknown resource is no decision',
        as: 'admin',
        send: 'GET /api/Artcle',
        status: 404,
        body_has: { code: 'RESOURCE_UNKNOWN', detail: 'no resource is named "Artcle" (did you mean "Article"?)' },
      },
      {
        name: 'a system table is not a resource',
        as: 'admin',
        send: 'GET /api/_Policy',
        status: 404,
        body_has: { code: 'RESOURCE_UNKNOWN' },
      },
    ],
  );
});

describe('batch', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'one result per request, in order, each decided and recorded by itself',
        as: 'maya',
        send: 'POST /api/batch',
        body: {
          requests: [
            { resource: 'Article', action: 'create', data: { title: 'Batched', slug: 'batched', authorId: '{maya}' } },
            { resource: 'Article', action: 'delete', id: '{first}' },
            { resource: 'Nothing', action: 'list' },
            { resource: 'Article', action: 'list', where: { slug: 'batched' } },
          ],
        },
        status: 200,
        body_has: {
          count: 4,
          data: [
            { status: 201, success: true },
            { status: 403, success: false, error: { code: 'ACCESS_DENIED' } },
            { status: 404, success: false, error: { code: 'RESOURCE_UNKNOWN' } },
            { status: 200, success: true, count: 1 },
          ],
        },
        entries: [{ action: 'create' }, { action: 'delete', allowed: false }, { action: 'list' }],
      },
      {
        name: 'atomic: all or nothing, the failing request named, every decision on the record',
        as: 'maya',
        send: 'POST /api/batch',
        body: {
          atomic: true,
          requests: [
            { resource: 'Article', action: 'create', data: { title: 'Undone', slug: 'undone', authorId: '{maya}' } },
            { resource: 'Article', action: 'delete', id: '{first}' },
          ],
        },
        status: 403,
        body_has: { code: 'ACCESS_DENIED', errors: [{ path: 'requests.1' }] },
        entries: [
          { action: 'create', allowed: true, outcome: 'BATCH_ABORTED' },
          { action: 'delete', allowed: false },
        ],
      },
      {
        name: 'atomic: what was undone is not there',
        as: 'admin',
        send: 'GET /api/Article?where[slug]=undone',
        status: 200,
        body_has: { count: 0 },
        entries: [{ action: 'list' }],
      },
      {
        name: 'a batch cannot hold itself',
        as: 'admin',
        send: 'POST /api/batch',
        body: { requests: [{ resource: 'Article', action: 'batch', data: {} }] },
        status: 200,
        body_has: { data: [{ status: 400, success: false }] },
      },
    ],
  );
});

describe('races', () => {
  it('of 50 createIfNotExists with the same filter one creates', async () => {
    const { service, tokens, kept } = stage;
    const body = { filter: { slug: 'raced' }, data: { title: 'Raced', slug: 'raced', authorId: kept.get('maya') } };
    const token = tokens.get('admin');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => service.call('POST', '/api/Article/createIfNotExists', { token, body })),
    );
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(49);
  });

  it('of 20 updates of the same version one succeeds', async () => {
    const { service, tokens, kept } = stage;
    const token = tokens.get('admin');
    const path = `/api/Article/${kept.get('third')}`;
    const { headers } = await service.call('GET', path, { token });
    const change = (title: string) =>
      service.call('PUT', path, { token, body: { title }, headers: { 'if-match': String(headers['etag']) } });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => change(`Title ${index}`)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
  });
});
