/**
 * A program with a client that is generated from the OpenAPI document of the newsroom example. `paths` are the generated types;
 * the package openapi-fetch sends the requests. The argument is the address of a service that has no admin yet.
 */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/newsroom.d.ts';

type Article = components['schemas']['Article'];

const [baseUrl = 'http://127.0.0.1:8787'] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl });

const authorId = await logIn();
const article = await createArticles();
await listArticles();
await updateArticle(article);
await createOrUpdateByFilter();
await sendBatch();
await managePolicies();
await deleteArticle(article);

/** Creates the first admin, sends the token of the admin with every later request, and returns the id of the admin. */
async function logIn(): Promise<string> {
  const credentials = { email: 'admin@example.com', password: 'correct horse battery' };
  const setup = await client.POST('/auth/setup', { body: { ...credentials, name: 'Ada' } });
  assert.equal(setup.response.status, 201);
  const { token, user } = succeeded(await client.POST('/auth/login', { body: credentials }));
  client.use({
    onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${token}`);
    },
  });
  const me = succeeded(await client.GET('/auth/me'));
  assert.equal(me.data.email, credentials.email);
  return user.id;
}

/** Creates five articles and returns the first. Members with a default may be omitted. */
async function createArticles(): Promise<Article> {
  const first = succeeded(await client.POST('/api/Article', { body: { title: 'A budget', slug: 'a-budget', authorId, fee: '120.50' } }));
  assert.equal(first.data.status, 'draft');
  for (const slug of ['harbour', 'museum', 'stadium', 'theatre']) {
    succeeded(await client.POST('/api/Article', { body: { title: `The ${slug}`, slug, authorId, status: 'published', tags: [slug] } }));
  }
  const { error } = await client.POST('/api/Article', { body: { title: 'A budget', slug: 'a-budget', authorId } });
  assert.equal(error?.code, 'RECORD_EXISTS');
  return first.data;
}

async function listArticles(): Promise<void> {
  const query = { where: { status: 'published' }, sort: '-slug', limit: 3 } as const;
  const page = succeeded(await client.GET('/api/Article', { params: { query } }));
  assert.deepEqual(
    page.data.map(({ slug }) => slug),
    ['theatre', 'stadium', 'museum'],
  );
  const last = succeeded(await client.GET('/api/Article', { params: { query: { ...query, cursor: page.nextCursor ?? '' } } }));
  assert.deepEqual([last.count, last.data[0]?.slug, last.nextCursor], [1, 'harbour', undefined]);

  // Every member of a listed record is typed and present, not only the id.
  const titles: readonly string[] = page.data.map((each) => each.title);
  const tags: readonly (readonly string[] | null)[] = page.data.map((each) => each.tags);
  assert.deepEqual([titles[0], tags[0]], ['The theatre', ['theatre']]);

  // The action route takes filters with operators as JSON.
  const filtered = succeeded(
    await client.POST('/api/Article/list', {
      body: {
        where: {
          status: { in: ['draft', 'published'] },
          fee: { gte: '100' },
          title: { startsWith: 'A ' },
          createdAt: { withinLast: '1d' },
        },
        sort: ['-createdAt', 'title'],
        fields: ['title', 'authorId'],
        expand: ['authorId', 'comments:Comment.articleId(5)'],
        total: true,
      },
    }),
  );
  const [budget] = filtered.data;
  const authorName: string | null | undefined = budget?.expand?.authorId?.name;
  assert.deepEqual([filtered.total, budget?.title, authorName, budget?.expand?.['comments']], [1, 'A budget', 'Ada', []]);
}

/** Updates the version that was read. A second update of the same version is refused. */
async function updateArticle({ id }: Article): Promise<void> {
  const read = await client.GET('/api/Article/{id}', { params: { path: { id } } });
  const etag = read.response.headers.get('etag') ?? '';
  const params = { path: { id }, header: { 'If-Match': etag } };
  const updated = succeeded(
    await client.PUT('/api/Article/{id}', { params, body: { department: 'politics', fee: { increment: '9.50' } } }),
  );
  // A caller who may not read the updated record gets only its id and version.
  assert.equal('fee' in updated.data && updated.data.fee, '130.00');
  const { error } = await client.PUT('/api/Article/{id}', { params, body: { title: 'Too late' } });
  assert.equal(error?.code, 'RECORD_VERSION');
}

async function createOrUpdateByFilter(): Promise<void> {
  const created = succeeded(
    await client.POST('/api/Article/createIfNotExists', {
      body: { filter: { slug: 'festival', status: { ne: 'draft' } }, data: { title: 'The festival', slug: 'festival', authorId } },
    }),
  );
  assert.deepEqual([created.created, created.data.slug], [true, 'festival']);
  const updated = succeeded(
    await client.POST('/api/Article/updateIfExists', {
      body: { filter: { slug: { in: ['festival'] }, department: { isNull: true } }, data: { department: 'culture' } },
    }),
  );
  assert.equal(updated.updated, true);
}

async function sendBatch(): Promise<void> {
  const { data } = succeeded(
    await client.POST('/api/batch', {
      body: {
        atomic: true,
        requests: [
          { resource: 'Article', action: 'create', data: { title: 'The bridge', slug: 'bridge', authorId } },
          { resource: 'Comment', action: 'create', data: { articleId: '$0.id', text: 'Well said' } },
          { resource: 'Article', action: 'update', id: '$0.id', data: { status: 'published' } },
          { resource: 'Article', action: 'list', where: { status: { in: ['published'] }, slug: 'bridge' }, limit: 5 },
          { resource: 'Comment', action: 'updateIfExists', filter: { articleId: '$0.id' }, data: { text: 'Very well said' } },
        ],
      },
    }),
  );
  assert.deepEqual(
    data.map(({ status }) => status),
    [201, 201, 200, 200, 200],
  );
}

async function managePolicies(): Promise<void> {
  const policy = succeeded(
    await client.POST('/admin/api/policies', {
      body: {
        name: 'Readers read published articles',
        type: 'ATTRIBUTE_BASED',
        rules: [
          { resource: 'Article', action: 'read', conditions: [{ field: 'resource.status', operator: 'eq', value: 'published' }] },
          { resource: 'Comment', action: '*' },
        ],
      },
    }),
  ).data;
  const [rule] = policy.rules;
  assert.deepEqual([policy.isActive, policy.priority, rule?.effect], [true, 100, 'ALLOW']);

  const assignment = { params: { path: { policyId: policy.id, role: 'user' } } } as const;
  const assigned = succeeded(
    await client.POST('/admin/api/policies/{policyId}/assign/role/{role}', { ...assignment, body: { priority: 10 } }),
  );
  assert.equal(assigned.data.role, 'user');

  const user = { email: 'ben@example.com', password: 'correct horse battery', name: 'Ben' };
  const reader = succeeded(await client.POST('/api/User', { body: user })).data;
  const request = { user: { id: reader.id }, action: 'read' } as const;
  const published = { name: 'Article', status: 'published' };
  const test = succeeded(await client.POST('/admin/api/policies/test-access', { body: { ...request, resource: published } }));
  assert.deepEqual([test.data.allowed, test.data.matchedPolicy?.name], [true, policy.name]);

  const toReader = { params: { path: { policyId: policy.id, userId: reader.id } } };
  const context = { reason: 'on leave', days: 5 };
  const lent = succeeded(await client.POST('/admin/api/policies/{policyId}/assign/user/{userId}', { ...toReader, body: { context } }));
  assert.deepEqual([lent.data.userId, lent.data.context['days']], [reader.id, 5]);

  const decisions = succeeded(await client.GET('/admin/api/decisions', { params: { query: { resource: 'Article', limit: 5 } } }));
  const [newest] = decisions.data;
  assert.deepEqual([newest?.allowed, newest?.kind, newest?.userId], [true, 'access', authorId]);
  const position: unknown = newest?.facts?.['user.position'];
  assert.equal(position, undefined);
}

async function deleteArticle({ id }: Article): Promise<void> {
  const params = { path: { id } };
  assert.equal(succeeded(await client.DELETE('/api/Article/{id}', { params })).data.id, id);
  const { error } = await client.GET('/api/Article/{id}', { params });
  // `code` is typed: a comparison with a code that does not exist would not compile.
  assert.equal(error?.code, 'RECORD_UNKNOWN');
  assert.equal(error.status, 404);
}

/** A response of openapi-fetch: `data` of a success, or `error`, which is a problem of RFC 9457. */
type Result<Data> = { readonly data?: Data; readonly error?: components['schemas']['api.Problem'] };

/** Returns the body of a successful response. */
function succeeded<Data>({ data, error }: Result<Data>): Data {
  assert.ok(data !== undefined, `${error?.code}: ${error?.detail} ${JSON.stringify(error?.errors ?? [])}`);
  return data;
}
