import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../authz/policies/index.ts';
import { isObject, type Json, type JsonObject, OPERATORS } from '../operators/index.ts';
import { createNewsroomDocument, definitions, listOperations } from './api-document.fixture.ts';

const document = createNewsroomDocument();
const operations = listOperations(document);
const schemas = (document['components'] as JsonObject)['schemas'] as Readonly<Record<string, JsonObject>>;

describe('the addresses of the document', () => {
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
  ])('the document has %s', (address) => {
    expect(operations.map((each) => each.address)).toContain(address);
  });

  it('the document leaves out internal resources', () => {
    expect(operations.filter(({ address }) => address.includes(' /api/_'))).toEqual([]);
  });

  it('the operations under /admin/api need a token', () => {
    const open = operations.filter(
      ({ address, operation }) => address.includes(' /admin') && JSON.stringify(operation['security']) !== '[{"bearerAuth":[]}]',
    );
    expect(open).toEqual([]);
  });

  it('the document of some resources names no other', () => {
    const text = JSON.stringify(createNewsroomDocument('Comment'));
    expect(text).toContain('/api/Comment');
    for (const name of ['/schemas/Article', '/schemas/User', '/api/User', 'User.', 'Tip']) expect(text).not.toContain(name);
  });

  it('the document of a caller who may see no resource has no batch', () => {
    const addresses = listOperations(createNewsroomDocument('Nothing')).map(({ address }) => address);
    expect(addresses.filter((address) => address.includes(' /api/'))).toEqual([]);
  });

  it('the same definitions give the same document', () => {
    expect(JSON.stringify(createNewsroomDocument())).toBe(JSON.stringify(document));
  });
});

/** Returns the paths of the parts of a value for which `matches` is true, through references to components. */
function findParts(
  value: Json | undefined,
  matches: (part: JsonObject) => boolean,
  seen = new Set<string>(),
  path = '',
): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const target = isObject(value) ? value['$ref'] : undefined;
  if (typeof target === 'string' && !seen.has(target)) {
    seen.add(target);
    return findParts(schemas[target.split('/').at(-1) ?? ''], matches, seen, target);
  }
  const own = isObject(value) && matches(value) ? [path] : [];
  return [...own, ...Object.entries(value).flatMap(([name, part]) => findParts(part as Json, matches, seen, `${path}/${name}`))];
}

describe('the requests and responses of the document', () => {
  it('no request has the keyword default, which generators take for a required member', () => {
    expect(operations.flatMap(({ operation }) => findParts(operation['requestBody'], (part) => 'default' in part))).toEqual([]);
  });

  it('no schema is a bare object, to which generators give no members', () => {
    const isBare = (part: JsonObject): boolean =>
      part['type'] === 'object' && !['properties', 'additionalProperties', 'anyOf', 'oneOf'].some((keyword) => keyword in part);
    const bare = operations.flatMap(({ operation }) => findParts({ ...operation, responses: withoutExamples(operation) }, isBare));
    expect(bare).toEqual([]);
  });
});

/** Returns the schemas of the successful responses. */
function withoutExamples({ responses }: JsonObject): Json {
  return Object.entries(responses as Readonly<Record<string, JsonObject>>)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.values(content as Readonly<Record<string, JsonObject>>).map(({ schema }) => schema as Json));
}

describe('the operators of the document', () => {
  it('every operator is in the filters of fields and in conditions', () => {
    const filters = JSON.stringify(Object.entries(schemas).filter(([name]) => name.startsWith('filter.')));
    const conditions = JSON.stringify(schemas['admin.Condition']);
    expect([...OPERATORS.keys()].filter((name) => !filters.includes(`"${name}":`) || !conditions.includes(`"${name}"`))).toEqual([]);
  });
});

describe('secret fields', () => {
  it('secret fields are named nowhere in the document', () => {
    expect(definitions.get('Tip')?.fields.get('contact')?.writeOnly).toBe(true);
    expect(JSON.stringify(document)).not.toContain('contact');
    const { paths, ...rest } = document;
    expect(JSON.stringify({ ...(rest['components'] as JsonObject), schemas: withoutAuth(schemas) })).not.toContain('"password"');
    const outsideAuth = Object.entries(paths as JsonObject).filter(([path]) => !path.startsWith('/auth/'));
    expect(JSON.stringify(outsideAuth)).not.toContain('"password"');
  });

  it('secret fields may be sent, if the resource has any', () => {
    expect(isValid('Tip.create', { subject: 'a', text: 'b', contact: 'c' })).toBe(true);
    expect(isValid('Comment.create', { articleId: ID, text: 'b', contact: 'c' })).toBe(false);
  });
});

function withoutAuth(components: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(components).filter(([name]) => !name.startsWith('auth.')));
}

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

describe('the schemas of the document', () => {
  const article = { title: 'Harbour reopens', slug: 'harbour-reopens', authorId: ID };
  const times = { createdAt: '2026-01-31T09:00:00.000Z', updatedAt: '2026-01-31T09:00:00.000Z' };
  const empty = { body: null, department: null, tags: null, publishedAt: null, fee: null, createdBy: null };
  const record = { ...article, ...times, ...empty, id: ID, version: 1, status: 'draft' };
  const comment = { id: ID, version: 1, ...times, createdBy: null, articleId: ID, text: 'a', rating: null };
  const user = {
    ...{ id: ID, version: 1, ...times, createdBy: null },
    ...{ name: null, email: 'ada@example.org', role: 'user', isActive: true, department: null, startedOn: null },
  };
  const rule = { resource: '*', action: 'read' };

  it.each(Object.keys(schemas))('the schema %s is sound', (name) => {
    expect(() => isValid(name, {})).not.toThrow();
  });

  it.each<[string, boolean, unknown]>([
    ['Article.create', true, article],
    ['Article.create', true, { ...article, fee: '12.30', tags: ['a'], publishedAt: null }],
    ['Article.create', false, { ...article, title: undefined }],
    ['Article.create', false, { ...article, status: 'lost' }],
    ['Article.create', false, { ...article, id: ID }],
    ['Article.create', false, { ...article, tags: 'a' }],
    ['Article.create', false, { ...article, authorId: '$0.id' }],
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
    ['Article.where', true, {}],
    ['Article.where', true, { status: 'draft', fee: { gt: '3' }, tags: { has: 'a' }, publishedAt: { withinLast: '7d' } }],
    ['Article.where', true, { slug: { in: ['a', 'b'] }, authorId: { isNull: true } }],
    ['Article.where', true, { status: { in: ['draft'], contains: 'aft' } }],
    ['Article.where', false, { status: 'drafft' }],
    ['Article.where', false, { status: { nin: ['drafft'] } }],
    ['Article.where', false, { status: { greater: 'draft' } }],
    ['Article.where', false, { headline: 'draft' }],
    ['Article.where', false, { tags: { has: 5 } }],
    ['Article.filter', true, { slug: 'a' }],
    ['Article.filter', false, {}],
    ['Article', true, record],
    ['Article', true, { ...record, expand: { authorId: null, comments: [comment] } }],
    ['Article', false, { ...record, title: undefined }],
    ['Article', false, { ...record, fee: undefined }],
    ['Article', false, { ...record, fee: 12.3 }],
    ['Article', false, { ...record, expand: { authorId: [] } }],
    ['User', true, { ...user, expand: { articles: [record] } }],
    ['User', false, { ...user, expand: { articles: [{ id: ID }] } }],
    ['batch.Request', true, { resource: 'Article', action: 'create', data: article }],
    ['batch.Request', true, { resource: 'Comment', action: 'create', data: { articleId: '$0.id', text: 'a' } }],
    ['batch.Request', true, { resource: 'Article', action: 'update', id: '$0.id', data: { fee: { increment: -2 } }, ifMatch: 3 }],
    ['batch.Request', true, { resource: 'Article', action: 'delete', id: ID }],
    ['batch.Request', true, { resource: 'Article', action: 'list' }],
    ['batch.Request', true, { resource: 'Article', action: 'list', where: { status: 'draft' }, sort: ['-title'], limit: 5 }],
    ['batch.Request', true, { resource: 'Article', action: 'schema' }],
    ['batch.Request', true, { resource: 'Article', action: 'import', data: [article] }],
    ['batch.Request', true, { resource: 'Article', action: 'updateIfExists', filter: { fee: { gte: '2' } }, data: {}, optional: true }],
    ['batch.Request', false, { resource: 'Article', action: 'createIfNotExists', filter: {}, data: article }],
    ['batch.Request', false, { resource: 'Article', action: 'create', data: article, optional: true }],
    ['batch.Request', false, { resource: 'Tip', action: 'create', data: { text: 'a' } }],
    ['batch.Request', false, { resource: 'Article', action: 'list', where: { subject: 'a' } }],
    ['batch.Request', false, { resource: 'Nothing', action: 'list' }],
    ['batch.Request', false, { resource: 'Article', action: 'read', ids: [ID] }],
    ['batch.Request', false, { resource: 'Article', action: 'batch' }],
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
  ])('%s, valid: %s, is the verdict on %j', (name, expected, value) => {
    expect(isValid(name, JSON.parse(JSON.stringify(value)))).toBe(expected);
  });

  it.each(TEMPLATES.map(({ id, template }) => [id, template]))('the template %s is a valid policy', (_id, template) => {
    expect(isValid('admin.PolicyInput', template)).toBe(true);
  });
});

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, strictTuples: false });
addFormats.default(ajv);
ajv.addVocabulary(Object.keys(document));
ajv.addSchema({ $id: 'https://example.com/openapi', ...document });

/** Compiles a schema at its first use only, because a batch request refers to nearly all schemas. */
function isValid(schema: string, value: unknown): boolean {
  const validate = ajv.getSchema(`https://example.com/openapi#/components/schemas/${schema}`);
  if (validate === undefined) throw new Error(`no schema ${schema}`);
  return validate(value) === true;
}

describe('the lists of names in a body', () => {
  it.each([
    ['fields', 1],
    ['expand', 1],
    ['sort', undefined],
  ])('the list `%s` has at least %s names, as the service requires', (member, least) => {
    const isList = (part: JsonObject): boolean => part['type'] === 'array' && part['minItems'] === least;
    const list = operations.find(({ address }) => address === 'POST /api/Article/list');
    expect(findParts(list?.operation['requestBody'], isList)).toContainEqual(expect.stringMatching(`/properties/${member}$`));
  });
});
