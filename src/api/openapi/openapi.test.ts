import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../authz/policies/index.ts';
import { PROBLEMS } from '../../errors.ts';
import { type JsonObject, OPERATORS } from '../../operators/index.ts';
import { loadProject } from '../../resources/system/index.ts';
import { describedEndpoints } from '../openapi-endpoint.ts';
import { createOpenApi } from './openapi-document.ts';

const { definitions } = loadProject(fileURLToPath(new URL('../../../examples/newsroom/resources', import.meta.url)));
const document = createOpenApi({ endpoints: describedEndpoints({ hasSetup: true, others: [] }), definitions });
const operations = Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) =>
  Object.entries(item as JsonObject).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation: operation as JsonObject,
  })),
);

describe('the addresses', () => {
  it.each([
    'GET /api/Article',
    'POST /api/Article',
    'GET /api/Article/schema',
    'GET /api/Article/{id}',
    'PUT /api/Article/{id}',
    'DELETE /api/Article/{id}',
    'POST /api/Article/create',
    'POST /api/Article/read',
    'POST /api/Article/update',
    'POST /api/Article/delete',
    'POST /api/Article/list',
    'POST /api/Article/export',
    'POST /api/Article/import',
    'POST /api/Article/createIfNotExists',
    'POST /api/Article/updateIfExists',
    'GET /api/User/{id}',
    'POST /api/batch',
    'POST /auth/setup',
    'POST /auth/login',
    'POST /auth/refresh',
    'POST /auth/logout',
    'GET /auth/me',
    'GET /admin/api/policies',
    'POST /admin/api/policies',
    'GET /admin/api/policies/{id}',
    'PUT /admin/api/policies/{id}',
    'DELETE /admin/api/policies/{id}',
    'POST /admin/api/policies/{policyId}/assign/user/{userId}',
    'PUT /admin/api/policies/{policyId}/assign/user/{userId}',
    'DELETE /admin/api/policies/{policyId}/assign/user/{userId}',
    'POST /admin/api/policies/{policyId}/assign/role/{role}',
    'PUT /admin/api/policies/{policyId}/assign/role/{role}',
    'DELETE /admin/api/policies/{policyId}/assign/role/{role}',
    'GET /admin/api/users/{userId}/policies',
    'GET /admin/api/roles/{role}/policies',
    'POST /admin/api/policies/test-access',
    'POST /admin/api/policies/{id}/test',
    'GET /admin/api/policies-analytics',
    'GET /admin/api/policies-templates',
    'GET /admin/api/decisions',
    'GET /admin/api/decisions/{id}',
    'GET /admin/api/decisions/verify',
    'GET /openapi.json',
  ])('have %s', (address) => {
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toContain(address);
  });

  it('leave out internal resources', () => {
    expect(operations.filter(({ path }) => path.startsWith('/api/_'))).toEqual([]);
  });

  it('need a token under /admin/api', () => {
    const open = operations.filter(
      ({ path, operation }) => path.startsWith('/admin') && JSON.stringify(operation['security']) !== '[{"bearerAuth":[]}]',
    );
    expect(open).toEqual([]);
  });
});

describe('the tables', () => {
  it('are all there: every problem code', () => {
    const responses = JSON.stringify((document['components'] as JsonObject)['responses']);
    expect(Object.keys(PROBLEMS).filter((code) => !responses.includes(`"${code}"`))).toEqual([]);
  });

  it('are all there: every operator, in filters and in conditions', () => {
    const schemas = (document['components'] as JsonObject)['schemas'] as JsonObject;
    const filters = JSON.stringify(Object.entries(schemas).filter(([name]) => name.startsWith('filter.')));
    const conditions = JSON.stringify(schemas['admin.Condition']);
    expect([...OPERATORS.keys()].filter((name) => !filters.includes(`"${name}":`) || !conditions.includes(`"${name}"`))).toEqual([]);
  });
});

describe('rows to import', () => {
  it('are new records, parts of some with their key, and what an export gives', () => {
    const anyOf = ['create', 'row', 'shown'].map((kind) => ({ $ref: `#/components/schemas/Article.${kind}` }));
    const paths = document['paths'] as Record<string, { post: JsonObject }>;
    const bodies = JSON.stringify(paths['/api/Article/import']?.post['requestBody']);
    // As members of an object, as an array, and as lines.
    expect(bodies.split(`"anyOf":${JSON.stringify(anyOf)}`)).toHaveLength(4);
  });
});

describe('secret fields', () => {
  it('are named nowhere', () => {
    expect(definitions.get('Tip')?.fields.get('contact')?.writeOnly).toBe(true);
    expect(JSON.stringify(document)).not.toContain('contact');
    const { paths, ...rest } = document;
    expect(JSON.stringify(rest)).not.toContain('"password"');
    const outsideAuth = Object.entries(paths as JsonObject).filter(([path]) => !path.startsWith('/auth/'));
    expect(JSON.stringify(outsideAuth)).not.toContain('"password"');
  });

  it('may be sent all the same', () => {
    expect(isValid('Tip.create', { subject: 'a', text: 'b', contact: 'c' })).toBe(true);
    expect(isValid('Comment.create', { articleId: ID, text: 'b', contact: 'c' })).toBe(false);
  });
});

describe('the schemas', () => {
  const article = { title: 'Harbour reopens', slug: 'harbour-reopens', authorId: ID };
  const rule = { resource: '*', action: 'read' };

  it.each(Object.keys((document['components'] as JsonObject)['schemas'] as JsonObject))('are sound: %s', (name) => {
    expect(() => isValid(name, {})).not.toThrow();
  });

  it.each<[string, boolean, unknown]>([
    ['Article.create', true, article],
    ['Article.create', true, { ...article, fee: '12.30', tags: ['a'], publishedAt: null }],
    ['Article.create', false, { ...article, title: undefined }],
    ['Article.create', false, { ...article, status: 'lost' }],
    ['Article.create', false, { ...article, id: ID }],
    ['Article.create', false, { ...article, tags: 'a' }],
    ['Article.update', true, { status: 'published' }],
    ['Article.update', true, { tags: null }],
    ['Article.update', false, { title: null }],
    ['Article.update', true, { fee: { increment: '-1.50' } }],
    ['Article.update', false, { fee: { increment: true } }],
    ['Article.update', false, { fee: { increment: 1, by: 1 } }],
    ['Article.update', false, { title: { increment: 1 } }],
    ['Article.create', false, { ...article, fee: { increment: 1 } }],
    ['Article.row', false, { fee: { increment: 1 } }],
    ['Article.update', false, { createdAt: '2026-01-31T09:00:00.000Z' }],
    ['Article.where', true, { status: 'draft', fee: { gt: '3' }, tags: { has: 'a' }, publishedAt: { withinLast: '7d' } }],
    ['Article.where', true, { slug: { in: ['a', 'b'] }, authorId: { isNull: true } }],
    ['Article.where', false, { status: { greater: 'draft' } }],
    ['Article.where', false, { headline: 'draft' }],
    ['Article.shown', true, { id: ID, title: 'a title', expand: { authorId: null, comments: [{ id: ID }] } }],
    ['Article.shown', false, { title: 'a title' }],
    ['Article.shown', false, { id: ID, expand: { authorId: [] } }],
    ['Article.shown', false, { id: ID, expand: { comments: {} } }],
    ['batch.Request', true, { resource: 'Article', action: 'create', data: article }],
    ['batch.Request', true, { resource: 'Article', action: 'update', data: { id: '$0.id', fee: { increment: -2 } }, ifMatch: 3 }],
    ['batch.Request', true, { resource: 'Article', action: 'update', id: ID, data: { title: 'New' } }],
    ['batch.Request', true, { resource: 'Article', action: 'delete', data: { id: ID } }],
    ['batch.Request', true, { resource: 'Article', action: 'list', data: {} }],
    ['batch.Request', true, { resource: 'Article', action: 'list', limit: 5 }],
    ['batch.Request', true, { resource: 'Article', action: 'schema', data: {} }],
    ['batch.Request', true, { resource: 'Article', action: 'schema' }],
    ['batch.Request', true, { resource: 'Article', action: 'import', data: { data: [article] } }],
    [
      'batch.Request',
      true,
      {
        resource: 'Article',
        action: 'updateIfExists',
        data: { filter: { id: ID, fee: { gte: '2' } }, data: { fee: { increment: '-2' } } },
        optional: true,
      },
    ],
    ['batch.Request', false, { resource: 'Article', action: 'createIfNotExists', data: { filter: {}, data: article } }],
    ['batch.Request', false, { resource: 'Article', action: 'create', data: article, optional: true }],
    ['batch.Request', false, { resource: 'Nothing', action: 'list' }],
    ['batch.Request', false, { resource: 'Article', action: 'read', data: { ids: [ID] } }],
    ['batch.Request', false, { resource: 'Article', action: 'batch', data: {} }],
    ['admin.PolicyInput', true, { name: 'p', type: 'CUSTOM', rules: [rule] }],
    [
      'admin.PolicyInput',
      true,
      { name: 'p', type: 'CUSTOM', rules: [{ ...rule, conditions: [{ anyOf: [{ field: 'user.id', operator: 'eq', value: 1 }] }] }] },
    ],
    ['admin.PolicyInput', false, { name: 'p', type: 'CUSTOM' }],
    ['admin.PolicyInput', false, { name: 'p', type: 'CUSTOM', rules: [{ ...rule, effect: 'MAYBE' }] }],
    ['admin.PolicyInput', false, { name: 'p', type: 'CUSTOM', rules: [{ ...rule, conditions: [{ field: 'user.id', operator: 'is' }] }] }],
    ['admin.PolicyChange', true, { isActive: false }],
    ['admin.UserPolicyInput', true, { expiresAt: '2027-01-01T00:00:00Z' }],
    ['admin.RolePolicyInput', false, { priority: 'high' }],
    ['admin.AccessTest', true, { user: { id: 'u', role: 'user', department: 'it' }, resource: { name: 'Article' }, action: 'read' }],
    ['admin.AccessTest', false, { user: { id: 'u' }, resource: { name: 'Article' }, action: 'destroy' }],
  ])('say of %s: %s for %j', (name, expected, value) => {
    expect(isValid(name, JSON.parse(JSON.stringify(value)))).toBe(expected);
  });

  it.each(TEMPLATES.map(({ id, template }) => [id, template]))('accept the template %s', (_id, template) => {
    expect(isValid('admin.PolicyInput', template)).toBe(true);
  });
});

it('says the same for the same definitions', () => {
  expect(JSON.stringify(createOpenApi({ endpoints: describedEndpoints({ hasSetup: true, others: [] }), definitions }))).toBe(
    JSON.stringify(document),
  );
});

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

function isValid(schema: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, strictTuples: false });
  addFormats.default(ajv);
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema({ $id: 'https://example.com/openapi', ...document });
  return ajv.validate({ $ref: `https://example.com/openapi#/components/schemas/${schema}` }, value) === true;
}
