/** Calls of the client against a service, with the types that `bailiwick types` writes. The compiler checks them: `npm run check`. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { type Client, createClient, ProblemError } from '../../client/index.ts';
import { type RunningService, startService } from '../harness.ts';
import type { Article, Resources, User } from './generated/newsroom.ts';

let service: RunningService;
let client: Client<Resources>;
let authorId: string;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  const { id, email, password } = await service.admin();
  authorId = id;
  client = createClient<Resources>({ url: service.url });
  await client.auth.logIn({ email, password });
});
afterAll(() => service.close());

let articles = 0;
/** Creates an article with its own slug. */
function createArticle(values: Partial<Resources['Article']['create']> = {}): Promise<Article> {
  articles += 1;
  return client.article.create({ title: 'A budget', slug: `article-${articles}`, authorId, ...values });
}

/** Returns the problem of a refused call. */
async function problemOf(call: Promise<unknown>): Promise<ProblemError> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof ProblemError) return outcome;
  throw new Error(`expected a ProblemError, given ${String(outcome)}`);
}

describe('a record', () => {
  it('a record is created, read, updated and deleted', async () => {
    const created = await createArticle({ fee: '120.50' });
    expectTypeOf(created.status).toEqualTypeOf<'draft' | 'published' | null>();
    expect(await client.article.read(created.id)).toEqual(created);
    const updated = await client.article.update(created.id, { fee: { increment: '9.50' } }, { ifMatch: created.version });
    // A caller who may not read the updated record gets only its id and version.
    expect('fee' in updated && updated.fee).toBe('130.00');
    await client.article.delete(created.id, { ifMatch: updated.version });
    expect(await problemOf(client.article.read(created.id))).toMatchObject({ status: 404, code: 'RECORD_UNKNOWN' });
  });

  it('a record that has changed since it was read is refused with 412', async () => {
    const { id, version } = await createArticle();
    await client.article.update(id, { title: 'First' }, { ifMatch: version });
    const refused = await problemOf(client.article.update(id, { title: 'Second' }, { ifMatch: version }));
    expect(refused).toMatchObject({ status: 412, code: 'RECORD_VERSION' });
    expect((await problemOf(client.article.delete(id, { ifMatch: version }))).status).toBe(412);
  });

  it('the selected fields and the expanded records of a record are typed', async () => {
    const { id } = await createArticle();
    await client.comment.create({ articleId: id, text: 'Well said' });
    const read = await client.article.read(id, { fields: ['title'], expand: ['authorId', 'comments:Comment.articleId(5)'] });
    expectTypeOf(read.expand.authorId).toEqualTypeOf<User | null>();
    expectTypeOf(read).not.toHaveProperty('slug');
    expect(Object.keys(read).toSorted()).toEqual(['expand', 'id', 'title']);
    expect([read.expand.authorId?.id, read.expand.comments.map(({ text }) => text)]).toEqual([authorId, ['Well said']]);
  });

  it('the preview of a deletion names the records that would be deleted too', async () => {
    const { id } = await createArticle();
    await client.comment.create({ articleId: id, text: 'Well said' });
    const preview = await client.article.previewDeletion(id);
    expect(preview.deleted).toMatchObject([{ resource: 'Comment', field: 'articleId', count: 1 }]);
    expect((await client.article.read(id)).id).toBe(id);
  });

  it('a record is created or updated by a filter', async () => {
    const values = { title: 'The festival', slug: 'festival', authorId };
    expect(await client.article.createIfNotExists({ slug: 'festival' }, values)).toMatchObject({ created: true });
    expect(await client.article.createIfNotExists({ slug: { in: ['festival'] } }, values)).toMatchObject({ created: false });
    expect(await client.article.updateIfExists({ slug: 'festival' }, { status: 'published' })).toMatchObject({ updated: true });
    expect(await client.article.updateIfExists({ slug: 'none' }, { status: 'draft' })).toMatchObject({ updated: false, data: null });
  });

  it.each(['', '.', '..', '../User', 'schema', 'x?fields=id', '#x'])('the id %j reaches no other endpoint', async (id) => {
    const call = id === 'schema' ? client.article.delete(id) : client.article.read(id);
    expect((await problemOf(call)).code).toMatch(/^(REQUEST_NO_ROUTE|RECORD_UNKNOWN|REQUEST_METHOD)$/);
  });
});

describe('a list', () => {
  it('a list has the filter, order and size of its query', async () => {
    for (const slug of ['harbour', 'museum', 'stadium']) await createArticle({ slug, tags: ['list'] });
    const page = await client.article.list({ where: { tags: { has: 'list' } }, sort: '-slug', limit: 2, total: true, fields: ['slug'] });
    expectTypeOf(page.data).toEqualTypeOf<readonly (Pick<Article, 'slug' | 'id'> & unknown)[]>();
    expect([page.data.map(({ slug }) => slug), page.total]).toEqual([['stadium', 'museum'], 3]);
    const rest = await client.article.list({ where: { tags: { has: 'list' } }, sort: '-slug', limit: 2, cursor: page.nextCursor });
    expect([rest.data.map(({ slug }) => slug), rest.nextCursor]).toEqual([['harbour'], undefined]);
  });

  it('all records are those of all pages', async () => {
    for (let count = 0; count < 5; count += 1) await createArticle({ tags: ['all'] });
    const query = { where: { tags: { has: 'all' } }, sort: ['slug'] } as const;
    const read: Article[] = [];
    for await (const article of client.article.all({ ...query, limit: 2 })) read.push(article);
    expect(read).toEqual((await client.article.list(query)).data);
    expect(read.length).toBe(5);
    await expect(client.article.all({ ...query, limit: 0 }).next()).rejects.toThrow(RangeError);
  });
});

describe('a batch', () => {
  it('the results of a batch have the types of their requests', async () => {
    const [article, comment, list] = await client.batch(
      [
        { resource: 'Article', action: 'create', data: { title: 'The bridge', slug: 'bridge', authorId } },
        { resource: 'Comment', action: 'create', data: { articleId: '$0.id', text: 'Well said' } },
        { resource: 'Article', action: 'list', where: { slug: 'bridge' } },
      ],
      { atomic: true },
    );
    expect([article.success && article.data.slug, comment.success && comment.data.text]).toEqual(['bridge', 'Well said']);
    expect(list.success && list.data.map(({ title }) => title)).toEqual(['The bridge']);
  });

  it('a request of a batch names the version that was read', async () => {
    const { id, version } = await createArticle();
    await client.article.update(id, { title: 'First' });
    const [late] = await client.batch([{ resource: 'Article', action: 'update', id, data: { title: 'Second' }, ifMatch: version }]);
    expect(late.success === false && late.error.code).toBe('RECORD_VERSION');
  });

  it('a request of a batch that fails has its problem', async () => {
    const [deleted] = await client.batch([{ resource: 'Tip', action: 'delete', id: authorId }]);
    expect(deleted.success === false && deleted.error.code).toBe('RECORD_UNKNOWN');
    expect((await problemOf(client.batch([{ resource: 'Tip', action: 'delete', id: authorId }], { atomic: true }))).status).toBe(404);
  });
});

describe('a mistake in a call', () => {
  it('a mistake in a call does not compile, and the service refuses it', async () => {
    const { id } = await createArticle();
    const calls = [
      // @ts-expect-error A required field is missing.
      () => client.article.create({ title: 'A budget', slug: 'no-author' }),
      // @ts-expect-error "printed" is no value of the enum.
      () => client.article.update(id, { status: 'printed' }),
      // @ts-expect-error "stauts" is no field.
      () => client.article.list({ where: { stauts: 'draft' } }),
      // @ts-expect-error A text is not compared with `has`.
      () => client.article.list({ where: { title: { has: 'x' } } }),
      // @ts-expect-error "stauts" is no field.
      () => client.article.list({ sort: '-stauts' }),
      // @ts-expect-error "stauts" is no field.
      () => client.article.read(id, { fields: ['stauts'] }),
      // @ts-expect-error "editorId" is no reference of an article.
      () => client.article.read(id, { expand: ['editorId'] }),
      // @ts-expect-error No comment refers to an article by "text".
      () => client.article.read(id, { expand: ['comments:Comment.text'] }),
      // @ts-expect-error The service sets `version`.
      () => client.article.update(id, { version: 7 }),
      // @ts-expect-error There is no resource with this name.
      () => client.resource('Artikel').list(),
      // @ts-expect-error A comment has no title.
      () => client.batch([{ resource: 'Comment', action: 'create', data: { title: 'x' } }], { atomic: true }),
    ];
    const problems = await Promise.all(calls.map((call) => problemOf(call())));
    expect(problems.map(({ status }) => status)).toEqual([422, 422, 400, 400, 400, 400, 400, 400, 422, 404, 422]);
  });

  it('an empty list of fields or expansions does not compile, and the service refuses it', async () => {
    const { id } = await createArticle();
    const calls = [
      // @ts-expect-error At least one field.
      () => client.article.list({ fields: [] }),
      // @ts-expect-error At least one expansion.
      () => client.article.list({ expand: [] }),
      // @ts-expect-error At least one field.
      () => client.article.read(id, { fields: [] }),
      // @ts-expect-error At least one expansion.
      () => client.article.all({ expand: [] }).next(),
      // @ts-expect-error At least one field.
      () => client.batch([{ resource: 'Article', action: 'list', fields: [] }], { atomic: true }),
    ];
    const problems = await Promise.all(calls.map((call) => problemOf(call())));
    expect(problems.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  });

  it('a list of fields that a program puts together compiles', async () => {
    const fields: ('title' | 'slug')[] = ['title', 'slug'];
    const { data } = await client.article.list({ where: { slug: 'none' }, fields, sort: [] });
    expect(data).toEqual([]);
    expect(await client.batch([{ resource: 'Article', action: 'list', where: { slug: 'none' }, fields }])).toMatchObject([{ data: [] }]);
  });

  it('a write-only field can be set and is in no response', async () => {
    const { id } = await client.tip.create({ subject: 'Harbour', text: 'It reopens', contact: '+44 20 7946 0000' });
    const read = await client.tip.read(id);
    // @ts-expect-error No response contains a write-only field.
    expect(read.contact).toBeUndefined();
    // @ts-expect-error A write-only field is not compared.
    expect((await problemOf(client.tip.list({ where: { contact: 'x' } }))).code).toBe('REQUEST_FIELD');
  });

  it('all mistakes of a request are listed, with the audit entry of the decision', async () => {
    const { errors, decisionId, message } = await problemOf(createArticle({ title: '', slug: 'No slug' }));
    expect(errors.map(({ path }) => path)).toEqual(['title', 'slug']);
    expect(decisionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(message).not.toBe('');
  });
});

describe('the client', () => {
  it('a resource with the name of another member of the client has no short name', () => {
    type Named = Client<Record<'Then' | 'Batch' | 'Note', Resources['Tip']>>;
    expectTypeOf<Named>().not.toHaveProperty('then');
    expectTypeOf<Named>().toHaveProperty('note');
    expectTypeOf<Named['resource']>().parameter(0).toEqualTypeOf<'Then' | 'Batch' | 'Note'>();
  });

  it('the client can be awaited, and knows no resource by a symbol', async () => {
    expect(await client).toBe(client);
    expect(Reflect.get(client, Symbol.iterator)).toBeUndefined();
  });

  it('other requests are sent with the token', async () => {
    expect(await client.send({ method: 'GET', path: '/auth/me' })).toMatchObject({ data: { id: authorId } });
  });

  it.each(['0/auth/me', '.example.org/', '//example.org/', '/\\example.org/', '/\t/example.org/', 'auth/me', ''])(
    'the path %j is refused, because another host could receive the token',
    async (path) => {
      const sent = client.send({ method: 'GET', path });
      await expect(sent).rejects.toThrow(`expected a path that begins with one "/", given ${JSON.stringify(path)}`);
    },
  );
});
