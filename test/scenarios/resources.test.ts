import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;

beforeAll(async () => {
  context = await startNewsroom();
  const { service, kept } = context;
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
afterAll(() => context.service.close());

describe('the resource API', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'a create generates the id, fills defaults, and returns the record with ETag and Location',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'First', slug: 'first', authorId: '{maya}' },
        status: 201,
        body_has: { data: { title: 'First', status: 'draft', version: 1, createdBy: '{admin}' } },
        keep: { first: 'data.id' },
        entries: [{ resource: 'Article', action: 'create', allowed: true, kind: 'access' }],
      },
      {
        name: 'another user creates a record',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Second', slug: 'second', authorId: '{admin}', status: 'published' },
        status: 201,
        keep: { second: 'data.id' },
        entries: [{ action: 'create', allowed: true }],
      },
      {
        name: 'a create is decided on the new record',
        as: 'maya',
        send: 'POST /api/Article',
        body: { title: 'Not mine', slug: 'not-mine', authorId: '{admin}' },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'create', allowed: false }],
      },
      {
        name: 'a create lists all invalid values, after the decision',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 7, slug: 'Not A Slug', authorId: 'nobody', status: 'drft', color: 'red' },
        status: 422,
        body_has: { code: 'VALUE_INVALID' },
        entries: [{ action: 'create', allowed: true, outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'a denied create does not reveal invalid values',
        as: 'reader',
        send: 'POST /api/Article',
        body: { title: 7 },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'create', allowed: false }],
      },
      {
        name: 'a create with an existing unique value is refused',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Again', slug: 'first', authorId: '{maya}' },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'slug' }] },
        entries: [{ action: 'create', allowed: true, outcome: 'RECORD_EXISTS' }],
      },
      {
        name: 'a create with a reference to a missing record is refused',
        as: 'admin',
        send: 'POST /api/Article',
        body: { title: 'Lost', slug: 'lost', authorId: '01900000-0000-7000-8000-000000000000' },
        status: 422,
        body_has: { errors: [{ path: 'authorId' }] },
        entries: [{ allowed: true, outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'a read returns the record',
        as: 'maya',
        send: 'GET /api/Article/{first}',
        status: 200,
        body_has: { data: { id: '{first}', title: 'First' } },
        entries: [{ action: 'read', recordId: '{first}', allowed: true, reason: 'allowed by rule "own: read" of policy "own articles"' }],
      },
      {
        name: 'a denied read has the same response as a read of a missing record',
        as: 'maya',
        send: 'GET /api/Article/{second}',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'read', allowed: false }],
      },
      {
        name: 'a read of a missing record is denied if the decision depends on the record',
        as: 'maya',
        send: 'GET /api/Article/01900000-0000-7000-8000-000000000000',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'read', allowed: false }],
      },
      {
        name: 'a read of a missing record is 404 if the decision does not depend on the record',
        as: 'admin',
        send: 'GET /api/Article/01900000-0000-7000-8000-000000000000',
        status: 404,
        body_has: { code: 'RECORD_UNKNOWN' },
        entries: [{ action: 'read', allowed: true, outcome: 'RECORD_UNKNOWN' }],
      },
      {
        name: 'a list and its total include exactly the records that single reads allow',
        as: 'maya',
        send: 'GET /api/Article?total=true',
        status: 200,
        body_has: { count: 1, total: 1, data: [{ id: '{first}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'a list accepts a filter, a sort order and a limit',
        as: 'admin',
        send: 'GET /api/Article?where[status]=published&sort=-createdAt&limit=5',
        status: 200,
        body_has: { count: 1, data: [{ id: '{second}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'a list is denied if no record could be allowed',
        as: 'reader',
        send: 'GET /api/Article',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'list', allowed: false }],
      },
      {
        name: 'a list without a token is decided for anon',
        send: 'GET /api/Article',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ role: 'anon', allowed: false }],
      },
      {
        name: 'an update changes only the given fields',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { title: 'First, again' },
        headers: { 'if-match': '"1"' },
        status: 200,
        body_has: { data: { title: 'First, again', slug: 'first', version: 2 } },
        entries: [{ action: 'update', recordId: '{first}', allowed: true }],
      },
      {
        name: 'an update of an earlier version is refused',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { title: 'Lost update' },
        headers: { 'if-match': '"1"' },
        status: 412,
        body_has: { code: 'RECORD_VERSION' },
        entries: [{ action: 'update', allowed: true, outcome: 'RECORD_VERSION' }],
      },
      {
        name: 'an update is also decided on the changed record',
        as: 'maya',
        send: 'PUT /api/Article/{first}',
        body: { authorId: '{admin}' },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'update', recordId: '{first}', allowed: false }],
      },
      {
        name: 'the schema is allowed to callers who may read or list',
        as: 'maya',
        send: 'GET /api/Article/schema',
        status: 200,
        body_has: { data: { name: 'Article' } },
        entries: [{ resource: 'Article', action: 'read', allowed: true }],
      },
      {
        name: 'the schema is denied to other callers',
        as: 'reader',
        send: 'GET /api/Article/schema',
        status: 403,
        entries: [{ allowed: false }],
      },
      {
        name: 'createIfNotExists creates a record if none matches',
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
        name: 'createIfNotExists returns the match, with two decisions and two audit entries',
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
        name: 'updateIfExists updates the match',
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
        name: 'updateIfExists changes nothing if no record matches',
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
        name: 'updateIfExists refuses several matches and changes none',
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
        name: 'createIfNotExists refuses a filter by an unknown or secret field',
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
        name: 'a denied createIfNotExists does not reveal which fields exist',
        as: 'reader',
        send: 'POST /api/Tip/createIfNotExists',
        body: { filter: { nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'create', allowed: false }],
      },
      {
        name: 'updateIfExists refuses a filter by an unknown or secret field',
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
        name: 'a denied updateIfExists does not reveal which fields exist',
        as: 'reader',
        send: 'POST /api/Tip/updateIfExists',
        body: { filter: { nothing: 'x' }, data: { subject: 'a', text: 'b' } },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ action: 'update', allowed: false }],
      },
      {
        name: 'updateIfExists accepts the operators of where',
        as: 'maya',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: { in: ['third', 'thirteenth'] }, title: { endsWith: 'better' } }, data: { title: 'Third, best' } },
        status: 200,
        body_has: { updated: true, data: { id: '{third}', title: 'Third, best' } },
        entries: [{ action: 'update' }, { action: 'read' }],
      },
      {
        name: 'updateIfExists refuses an operator that does not fit the field',
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
        name: 'updateIfExists is also decided on the changed record',
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
        name: 'an action can be requested by name',
        as: 'maya',
        send: 'POST /api/Article/list',
        body: { where: { title: { startsWith: 'Third' } }, limit: 10 },
        status: 200,
        body_has: { count: 1, data: [{ id: '{third}' }] },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'an import has a decision for each record',
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
        name: 'an export has the records that policies allow',
        as: 'maya',
        send: 'POST /api/Article/export',
        body: { sort: 'slug' },
        status: 200,
        body_has: { count: 3 },
        entries: [{ action: 'export', allowed: true }],
      },
      {
        name: 'a delete of a referenced record is refused',
        as: 'admin',
        send: 'DELETE /api/User/{maya}',
        status: 409,
        body_has: { code: 'RECORD_REFERENCED' },
        entries: [{ resource: 'User', action: 'delete', allowed: true, outcome: 'RECORD_REFERENCED' }],
      },
      {
        name: 'a delete is denied without a matching rule',
        as: 'maya',
        send: 'DELETE /api/Article/{first}',
        status: 403,
        entries: [{ action: 'delete', allowed: false }],
      },
      {
        name: 'a delete removes the record',
        as: 'admin',
        send: 'DELETE /api/Article/{second}',
        status: 200,
        body_has: { data: { id: '{second}' } },
        entries: [{ action: 'delete', recordId: '{second}', allowed: true }],
      },
      {
        name: 'a request for an unknown resource has no decision',
        as: 'admin',
        send: 'GET /api/Artcle',
        status: 404,
        body_has: { code: 'RESOURCE_UNKNOWN' },
      },
      {
        name: 'a system table cannot be requested as a resource',
        as: 'admin',
        send: 'GET /api/_Policy',
        status: 404,
        body_has: { code: 'RESOURCE_UNKNOWN' },
      },
    ],
    it,
  );
});

describe('a batch', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'a batch returns one result per request in order, each with its own decision and audit entry',
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
        name: 'an atomic batch fails as a whole, names the failed request, and has an audit entry for each decision',
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
        name: 'an atomic batch that failed has stored nothing',
        as: 'admin',
        send: 'GET /api/Article?where[slug]=undone',
        status: 200,
        body_has: { count: 0 },
        entries: [{ action: 'list' }],
      },
      {
        name: 'a batch cannot contain a batch',
        as: 'admin',
        send: 'POST /api/batch',
        body: { requests: [{ resource: 'Article', action: 'batch', data: {} }] },
        status: 200,
        body_has: { data: [{ status: 400, success: false }] },
      },
    ],
    it,
  );
});

describe('concurrent requests', () => {
  it('one of 50 concurrent createIfNotExists with the same filter creates a record', async () => {
    const { service, tokens, kept } = context;
    const body = { filter: { slug: 'raced' }, data: { title: 'Raced', slug: 'raced', authorId: kept.get('maya') } };
    const token = tokens.get('admin');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => service.call('POST', '/api/Article/createIfNotExists', { token, body })),
    );
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(49);
  });

  it('one of 20 concurrent updates of the same version succeeds', async () => {
    const { service, tokens, kept } = context;
    const token = tokens.get('admin');
    const path = `/api/Article/${kept.get('third')}`;
    const { headers } = await service.call('GET', path, { token });
    const change = (title: string) =>
      service.call('PUT', path, { token, body: { title }, headers: { 'if-match': String(headers['etag']) } });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => change(`Title ${index}`)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
  });
});
