/** Responses match the schemas and headers of the API description. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

type Tree = Readonly<Record<string, unknown>>;

let service: RunningService;
let document: Tree;
let ids: Readonly<Record<string, string>>;
let validate: (schema: unknown, value: unknown) => string;
let validateSelection: typeof validate;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  document = (await service.call('GET', '/openapi.json', { token: (await service.admin()).token })).body as Tree;
  validate = createValidator(document);
  validateSelection = createValidator(withSelection(document, ['id', 'title']));
  const user = await service.user({ department: 'politics' });
  const article = await service.createRecord('Article', {
    title: 'A budget',
    slug: 'a-budget',
    authorId: user.id,
    fee: '12.30',
    tags: ['a'],
  });
  const spare = await service.createRecord('Article', { title: 'Another', slug: 'another', authorId: user.id });
  const conditions = [{ field: 'resource.status', operator: 'eq', value: 'published' }];
  const policy = await service.createPolicy({ role: 'user', rules: [{ resource: 'Article', action: '*', conditions }] });
  const decision = String((await service.call('GET', `/api/Article/${article}`, { token: user.token })).headers['x-decision-id']);
  ids = { user: user.id, article, spare, policy, decision };
});
afterAll(() => service.close());

const article = { title: 'New here', slug: 'new-here', authorId: '<user>' };
const policy = {
  name: 'Everything',
  type: 'CUSTOM',
  rules: [{ resource: '*', action: '*', conditions: [{ expression: 'user.role == "user"' }] }],
};
const test = {
  user: { id: '<user>' },
  resource: { name: 'Article', id: '<article>' },
  action: 'read',
  environment: { timestamp: '2026-01-31T09:00:00Z', ip: '192.0.2.1' },
};

/** A request, its path in the document, and the expected status. `<user>` is an id. */
const CALLS: readonly (readonly [send: string, path: string, status: number, body?: unknown])[] = [
  ['GET /api/Article?total=true&limit=1', '/api/Article', 200],
  ['GET /api/Article?total=true&limit=0', '/api/Article', 200],
  ['GET /api/Article?limit=-1', '/api/Article', 400],
  ['POST /api/Article', '/api/Article', 201, article],
  ['POST /api/Article', '/api/Article', 409, article],
  ['POST /api/Article', '/api/Article', 422, {}],
  ['GET /api/Article/schema', '/api/Article/schema', 200],
  ['GET /api/Article/<article>', '/api/Article/{id}', 200],
  ['GET /api/Article/<article>?fields=title&expand=authorId,comments:Comment.articleId(3)', '/api/Article/{id}', 200],
  ['GET /api/Article?fields=title&expand=authorId', '/api/Article', 200],
  ['GET /api/Article/nothing', '/api/Article/{id}', 404],
  ['GET /api/Article?deleted=true', '/api/Article', 400],
  ['DELETE /api/Article/nothing', '/api/Article/{id}', 404],
  ['PUT /api/Article/<article>', '/api/Article/{id}', 422, { title: '' }],
  ['POST /api/Article/update', '/api/Article/update', 412, { id: '<article>', ifMatch: 99, data: { fee: null } }],
  ['POST /api/Article/updateIfExists', '/api/Article/updateIfExists', 409, { filter: { authorId: '<user>' }, data: { fee: null } }],
  ['POST /api/Article/import', '/api/Article/import', 422, { data: [{}] }],
  ['POST /api/batch', '/api/batch', 404, { atomic: true, requests: [{ resource: 'Article', action: 'read', id: 'nothing' }] }],
  [
    'POST /api/batch',
    '/api/batch',
    409,
    {
      atomic: true,
      requests: [{ resource: 'Article', action: 'updateIfExists', filter: { slug: 'nowhere' }, data: { status: 'published' } }],
    },
  ],
  ['PUT /api/Article/<article>', '/api/Article/{id}', 200, { fee: null }],
  ['DELETE /api/Article/<spare>', '/api/Article/{id}', 200],
  ['POST /api/Article/read', '/api/Article/read', 200, { id: '<article>' }],
  ['POST /api/Article/list', '/api/Article/list', 200, { where: { status: 'draft' } }],
  ['POST /api/Article/export', '/api/Article/export', 200, {}],
  ['POST /api/Article/export?format=json', '/api/Article/export', 200, {}],
  ['POST /api/Article/import', '/api/Article/import', 201, { data: [{ ...article, slug: 'imported' }] }],
  ['POST /api/Article/createIfNotExists', '/api/Article/createIfNotExists', 200, { filter: { slug: 'a-budget' }, data: article }],
  [
    'POST /api/Article/createIfNotExists',
    '/api/Article/createIfNotExists',
    201,
    { filter: { slug: 'made' }, data: { ...article, slug: 'made' } },
  ],
  ['POST /api/Article/updateIfExists', '/api/Article/updateIfExists', 200, { filter: { slug: 'a-budget' }, data: { status: 'published' } }],
  ['POST /api/Article/updateIfExists', '/api/Article/updateIfExists', 200, { filter: { slug: 'nowhere' }, data: { status: 'published' } }],
  ['GET /api/User', '/api/User', 200],
  ['POST /api/Tip', '/api/Tip', 201, { subject: 'a', text: 'b', contact: 'c' }],
  [
    'POST /api/batch',
    '/api/batch',
    200,
    {
      requests: [
        { resource: 'Article', action: 'read', id: '<article>' },
        { resource: 'Article', action: 'create', data: {} },
        { resource: 'Article', action: 'update', data: { id: '$0.id', fee: { increment: '-0.30' } } },
        { resource: 'Article', action: 'schema', data: {} },
      ],
    },
  ],
  ['GET /auth/me', '/auth/me', 200],
  ['POST /auth/setup', '/auth/setup', 409, { email: 'a@example.com', password: 'a long password', name: 'A' }],
  ['POST /auth/login', '/auth/login', 200, { email: 'admin@example.com', password: 'correct horse battery' }],
  ['POST /auth/login', '/auth/login', 401, { email: 'admin@example.com', password: 'not this one' }],
  ['POST /auth/refresh', '/auth/refresh', 401, { refreshToken: 'x' }],
  ['GET /admin/api/policies', '/admin/api/policies', 200],
  ['POST /admin/api/policies', '/admin/api/policies', 201, policy],
  ['POST /admin/api/policies', '/admin/api/policies', 409, policy],
  ['POST /admin/api/policies', '/admin/api/policies', 422, { name: '' }],
  ['GET /admin/api/policies/<policy>', '/admin/api/policies/{id}', 200],
  ['PUT /admin/api/policies/<policy>', '/admin/api/policies/{id}', 200, { priority: 200 }],
  ['GET /admin/api/policies-templates', '/admin/api/policies-templates', 200],
  ['GET /admin/api/policies-advice', '/admin/api/policies-advice', 200],
  ['GET /admin/api/policies-advice?policyId=none', '/admin/api/policies-advice', 404],
  ['POST /admin/api/policies/test-access', '/admin/api/policies/test-access', 200, test],
  [
    'POST /admin/api/policies/test-access',
    '/admin/api/policies/test-access',
    200,
    { ...test, action: 'list', resource: { name: 'Article' } },
  ],
  ['POST /admin/api/policies/who-can', '/admin/api/policies/who-can', 200, { resource: 'Article', action: 'update' }],
  ['POST /admin/api/policies/who-can', '/admin/api/policies/who-can', 200, { resource: 'Article', action: 'read', id: '<article>' }],
  ['POST /admin/api/policies/who-can', '/admin/api/policies/who-can', 404, { resource: 'Article', action: 'read', id: 'nothing' }],
  ['POST /admin/api/policies/who-can', '/admin/api/policies/who-can', 400, {}],
  ['POST /admin/api/users/<user>/permissions', '/admin/api/users/{userId}/permissions', 200, {}],
  ['POST /admin/api/users/unknown/permissions', '/admin/api/users/{userId}/permissions', 404, {}],
  ['POST /admin/api/policies/<policy>/test', '/admin/api/policies/{id}/test', 200, test],
  ['POST /admin/api/policies/<policy>/test', '/admin/api/policies/{id}/test', 400, {}],
  [
    'POST /admin/api/policies/<policy>/assign/user/<user>',
    '/admin/api/policies/{policyId}/assign/user/{userId}',
    201,
    { expiresAt: '2100-01-01T00:00:00Z' },
  ],
  ['POST /admin/api/policies/<policy>/assign/user/<user>', '/admin/api/policies/{policyId}/assign/user/{userId}', 409, {}],
  ['PUT /admin/api/policies/<policy>/assign/user/<user>', '/admin/api/policies/{policyId}/assign/user/{userId}', 200, { isActive: false }],
  ['GET /admin/api/users/<user>/policies?role=user', '/admin/api/users/{userId}/policies', 200],
  ['GET /admin/api/roles/user/policies', '/admin/api/roles/{role}/policies', 200],
  ['PUT /admin/api/policies/<policy>/assign/role/user', '/admin/api/policies/{policyId}/assign/role/{role}', 200, { priority: 5 }],
  ['DELETE /admin/api/policies/<policy>/assign/role/user', '/admin/api/policies/{policyId}/assign/role/{role}', 200],
  ['DELETE /admin/api/policies/<policy>/assign/user/<user>', '/admin/api/policies/{policyId}/assign/user/{userId}', 200],
  ['GET /admin/api/decisions?limit=5', '/admin/api/decisions', 200],
  ['GET /admin/api/decisions/<decision>', '/admin/api/decisions/{id}', 200],
  ['GET /admin/api/policies-analytics?timeframe=1d', '/admin/api/policies-analytics', 200],
  ['DELETE /admin/api/policies/<policy>', '/admin/api/policies/{id}', 200],
  ['DELETE /admin/api/policies/<policy>', '/admin/api/policies/{id}', 404],
  ['GET /healthz', '/healthz', 200],
  ['GET /readyz', '/readyz', 200],
];

/** The headers that the document describes. */
const HEADERS = ['x-request-id', 'x-decision-id', 'etag', 'location', 'set-cookie', 'retry-after', 'www-authenticate', 'allow'];

describe('responses', () => {
  it.each(CALLS.map((call) => [call[2], `${call[0]} ${JSON.stringify(call[3]) ?? ''}`.trimEnd(), ...call] as const))(
    'the response %i to %s matches its description',
    async (_status, _name, send, path, status, body) => {
      const [method = '', address = ''] = send.split(' ');
      const { token } = await service.admin();
      const reply = await service.call(
        method,
        withIds(address),
        body === undefined ? { token } : { token, raw: withIds(JSON.stringify(body)) },
      );
      expect(reply.status, reply.text).toBe(status);
      const { content, headers } = describedResponse(method, path, status);
      const described = Object.keys(headers).map((name) => name.toLowerCase());
      expect(described).toEqual(expect.arrayContaining(HEADERS.filter((name) => name in reply.headers)));
      const validateBody = address.includes('fields=title') ? validateSelection : validate;
      expect(validateBody(schemaIn(content, reply), reply.body), reply.text).toBe('');
      // Without a record, the response has no ETag. The headers of a problem depend on its code.
      const promised = status >= 400 ? ['x-request-id'] : described.filter((name) => name !== 'etag' || reply.at('data') !== null);
      expect(Object.keys(reply.headers)).toEqual(expect.arrayContaining(promised));
    },
  );
});

/** Returns the document for requests with `fields`: an article has these fields, and the document describes no others as required. */
function withSelection(described: Tree, names: readonly string[]): Tree {
  const { components } = described as { readonly components: { readonly schemas: Tree } };
  const article = { ...(components.schemas['Article'] as Tree), required: names };
  return { ...described, components: { ...components, schemas: { ...components.schemas, Article: article } } };
}

function withIds(text: string): string {
  return text.replaceAll(/<(\w+)>/g, (_, name: string) => ids[name] as string);
}

function describedResponse(method: string, path: string, status: number): { readonly content: Tree; readonly headers: Tree } {
  const operation = at(document, ['paths', path, method.toLowerCase()]);
  const answer = at(operation, ['responses', String(status)]);
  const target = answer['$ref'];
  const { content, headers } = typeof target === 'string' ? at(document, target.slice(2).split('/')) : answer;
  return { content: content as Tree, headers: headers as Tree };
}

function schemaIn(content: Tree, reply: Reply): unknown {
  const [type = ''] = String(reply.headers['content-type']).split(';');
  return at(content, [type])['schema'];
}

function at(tree: unknown, path: readonly string[]): Tree {
  return path.reduce<Tree>((part, key) => {
    expect(part, `the document has ${key}`).toHaveProperty([key]);
    return part[key] as Tree;
  }, tree as Tree);
}

/** Returns a function that lists the violations of a schema of the document, or an empty string. */
function createValidator(described: Tree): typeof validate {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'https://example.com/openapi', ...described });
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"https://example.com/openapi#/');
    return ajv.validate(JSON.parse(text) as Tree, value) ? '' : ajv.errorsText();
  };
}
