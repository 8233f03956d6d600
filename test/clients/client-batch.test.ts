/** Batches of the client: the types of their requests, which the compiler checks (`npm run check`), and their results. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { type BatchRequest, type Client, createClient, type DeletionPreview, type ResourceDescription } from '../../client/index.ts';
import { type RunningService, startService } from '../harness.ts';
import type { Article, Comment, Resources, User } from './generated/newsroom.ts';

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

/** The status of the only request of a batch. */
async function statusOf(batch: Promise<readonly { readonly status: number }[]>): Promise<number | undefined> {
  return (await batch)[0]?.status;
}

describe('a request of a batch', () => {
  it('a mistake in a request does not compile, and the service refuses it', async () => {
    const data = { title: 'A budget', slug: 'mistake', authorId } as const;
    const { id } = await client.article.create(data);
    const batches = [
      // @ts-expect-error "stauts" is no field.
      () => client.batch([{ resource: 'Article', action: 'create', data: { ...data, stauts: 'draft' } }]),
      // @ts-expect-error "stauts" is no field.
      () => client.batch([{ resource: 'Article', action: 'update', id, data: { stauts: 'draft' } }]),
      // @ts-expect-error "stauts" is no field.
      () => client.batch([{ resource: 'Article', action: 'list', where: { stauts: 'draft' } }]),
      // @ts-expect-error "equals" is no operator.
      () => client.batch([{ resource: 'Article', action: 'list', where: { title: { eq: 'A', equals: 'B' } } }]),
      // @ts-expect-error "totl" is no member of a list.
      () => client.batch([{ resource: 'Article', action: 'list', totl: true }]),
      // @ts-expect-error "stauts" is no field.
      () => client.batch([{ resource: 'Article', action: 'updateIfExists', filter: { stauts: 'draft' }, data: { title: 'Budget' } }]),
      // @ts-expect-error Only `updateIfExists` may match no record.
      () => client.batch([{ resource: 'Article', action: 'create', data, optional: true }]),
      // @ts-expect-error An export has no `expand`.
      () => client.batch([{ resource: 'Article', action: 'export', expand: ['authorId'] }]),
      // @ts-expect-error "stauts" is no field.
      () => client.batch([{ resource: 'Article', action: 'import', data: [{ ...data, stauts: 'draft' }] }]),
      // @ts-expect-error A create has no version.
      () => client.batch([{ resource: 'Article', action: 'create', data, ifMatch: 1 }]),
    ];
    expect(await Promise.all(batches.map((batch) => statusOf(batch())))).toEqual([422, 422, 400, 400, 400, 400, 400, 400, 422, 400]);
  });

  it('requests that a program puts together have the types of all requests', async () => {
    const requests: BatchRequest<Resources>[] = [{ resource: 'Article', action: 'list', where: { fee: { gte: 5 } }, sort: [] }];
    requests.push({ resource: 'Article', action: 'update', id: authorId, data: { fee: { increment: 1 } } });
    expect((await client.batch(requests)).map(({ status }) => status)).toEqual([200, 404]);
  });

  it('an `updateIfExists` with `optional` may match no record of an atomic batch', async () => {
    const [update] = await client.batch(
      [{ resource: 'Article', action: 'updateIfExists', filter: { slug: 'none' }, data: { title: 'Budget' }, optional: true }],
      { atomic: true },
    );
    if (!update.success) throw new Error(update.error.detail);
    expect([update.updated, update.data]).toEqual([false, null]);
  });

  it('a list of deleted records is refused for a resource without soft deletes', async () => {
    const [deleted] = await client.batch([{ resource: 'Article', action: 'listDeleted', limit: 1 }]);
    expect(deleted.success === false && deleted.error.code).toBe('SOFT_DELETE_DISABLED');
  });
});

describe('a result of a batch', () => {
  it('`fields` and `expand` narrow the type of a result', async () => {
    const { id } = await client.article.create({ title: 'A budget', slug: 'narrow', authorId });
    const [read, list] = await client.batch([
      { resource: 'Article', action: 'read', id, fields: ['title'] },
      { resource: 'Article', action: 'list', where: { id }, fields: ['slug'], expand: ['authorId', 'comments:Comment.articleId(5)'] },
    ]);
    if (!read.success || !list.success) throw new Error('a request failed');
    expectTypeOf(read.data).toEqualTypeOf<Pick<Article, 'title' | 'id'>>();
    const [first] = list.data;
    expectTypeOf(first?.expand.authorId).toEqualTypeOf<User | null | undefined>();
    expectTypeOf(first?.expand.comments).toEqualTypeOf<readonly Comment[] | undefined>();
    expect([read.data, Object.keys(first ?? {}).toSorted()]).toEqual([{ id, title: 'A budget' }, ['expand', 'id', 'slug']]);
  });

  it('a result has the members of the response as a single request, and the id of the decision', async () => {
    const values = { title: 'A budget', slug: 'members', authorId } as const;
    const filter = { slug: { in: ['members', 'others'] } } as const;
    await client.article.create({ ...values, slug: 'before-members' });
    const [created, found, updated, list] = await client.batch([
      { resource: 'Article', action: 'createIfNotExists', filter, data: values },
      { resource: 'Article', action: 'createIfNotExists', filter, data: values },
      { resource: 'Article', action: 'updateIfExists', filter, data: { title: 'Budget' } },
      { resource: 'Article', action: 'list', limit: 1, total: true },
    ]);
    if (!created.success || !found.success || !updated.success || !list.success) throw new Error('a request failed');
    expect([created.created, found.created, found.data.slug, updated.updated]).toEqual([true, false, 'members', true]);
    expect(list).toMatchObject({ count: 1, total: expect.any(Number), nextCursor: expect.any(String) });
    expectTypeOf(list.nextCursor).toEqualTypeOf<string | undefined>();
    expectTypeOf(list.total).toEqualTypeOf<number | undefined>();
    expectTypeOf(created.decisionId).toEqualTypeOf<string | undefined>();
    expect(created.decisionId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('an export, an import, a description and the preview of a deletion have types', async () => {
    const { id } = await client.article.create({ title: 'A budget', slug: 'exported', authorId });
    const [exported, imported, described, preview] = await client.batch([
      { resource: 'Article', action: 'export', where: { id }, fields: ['slug'], offset: 0 },
      { resource: 'Article', action: 'import', data: [{ title: 'A budget', slug: 'imported', authorId }] },
      { resource: 'Article', action: 'schema' },
      { resource: 'Article', action: 'delete', id, dryRun: true },
    ]);
    if (!exported.success || !imported.success || !described.success || !preview.success) throw new Error('a request failed');
    expectTypeOf(exported.data).toEqualTypeOf<readonly Pick<Article, 'slug' | 'id'>[]>();
    expectTypeOf(imported.data).toEqualTypeOf<readonly string[]>();
    expectTypeOf(described.data).toEqualTypeOf<ResourceDescription>();
    expectTypeOf(preview.data).toEqualTypeOf<DeletionPreview>();
    expect([exported.data, imported.count, described.data.name]).toEqual([[{ id, slug: 'exported' }], 1, 'Article']);
    expect([preview.data.id, preview.data.dryRun, imported.message]).toEqual([id, true, 'imported 1 Article records']);
  });

  it('a deletion has the id of the record', async () => {
    const { id } = await client.article.create({ title: 'A budget', slug: 'deleted', authorId });
    const [deleted, again] = await client.batch([
      { resource: 'Article', action: 'delete', id },
      { resource: 'Article', action: 'delete', id },
    ]);
    expect(deleted.success && deleted.data.id).toBe(id);
    expect([again.success, again.decisionId]).toEqual([false, expect.any(String)]);
  });
});
