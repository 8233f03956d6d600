/**
 * Calls and values with mistakes. The generated types reject each: the compiler fails if a line after `@ts-expect-error` has no
 * mistake. The quoted word of the comment is in the message of the compiler.
 *
 * openapi-fetch checks the members of a body, but accepts unknown ones. Give the body a type, such as `Body` below, to reject them too.
 */
import createClient from 'openapi-fetch';
import type { paths } from './generated/newsroom.d.ts';

/** The body of `POST` on a path. */
export type Body<Path extends PathsWithBody> = NonNullable<paths[Path]['post']['requestBody']>['content']['application/json'];
type PathsWithBody = '/api/Article' | '/api/Article/list' | '/api/Article/updateIfExists' | '/api/batch' | '/admin/api/policies';

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:8787' });

// @ts-expect-error: there is no path "/api/Artikel"
export const path: keyof paths = '/api/Artikel';
// @ts-expect-error: "drafft" is not a status
await client.GET('/api/Article', { params: { query: { where: { status: 'drafft' } } } });
// @ts-expect-error: a list has no parameter "page"
await client.GET('/api/Article', { params: { query: { page: 2 } } });
// @ts-expect-error: an article needs a "slug"
await client.POST('/api/Article', { body: { title: 'A budget', authorId: 'a' } });
// @ts-expect-error: "drafft" is not a status
await client.POST('/api/Article', { body: { title: 'A budget', slug: 'a-budget', authorId: 'a', status: 'drafft' } });
// @ts-expect-error: a "number" is not a title
await client.PUT('/api/Article/{id}', { params: { path: { id: 'a' } }, body: { title: 5 } });
// @ts-expect-error: there is no role "reader"
await client.DELETE('/admin/api/policies/{policyId}/assign/role/{role}', { params: { path: { policyId: 'a', role: 'reader' } } });

// @ts-expect-error: Article has no field "colour"
export const article: Body<'/api/Article'> = { title: 'A budget', slug: 'a-budget', authorId: 'a', colour: 'red' };
// @ts-expect-error: Article has no field "stauts"
export const unknownField: Body<'/api/Article/list'> = { where: { stauts: 'draft' } };
// @ts-expect-error: "drafft" is not a status
export const unknownStatus: Body<'/api/Article/list'> = { where: { status: { in: ['drafft'] } } };
// @ts-expect-error: a "number" is not a tag
export const otherItem: Body<'/api/Article/list'> = { where: { tags: { has: 5 } } };
// @ts-expect-error: there is no field to sort by that is called "-colour"
export const unknownSort: Body<'/api/Article/list'> = { sort: ['-colour'] };
// @ts-expect-error: a timestamp has no operator "contains"
export const unknownOperator: Body<'/api/Article/list'> = { where: { createdAt: { contains: '2026' } } };
// @ts-expect-error: Article has no field "headline"
export const unknownFields: Body<'/api/Article/list'> = { fields: ['headline'] };
// @ts-expect-error: a list has no member "order"
export const unknownMember: Body<'/api/Article/list'> = { order: 'title' };
// @ts-expect-error: "drafft" is not a status
export const upsert: Body<'/api/Article/updateIfExists'> = { filter: { status: 'drafft' }, data: {} };
// @ts-expect-error: Article has no field "articleId"
export const otherData: Body<'/api/batch'> = { requests: [{ resource: 'Article', action: 'create', data: { articleId: 'a', text: 'b' } }] };
// @ts-expect-error: Comment has no field "status"
export const otherWhere: Body<'/api/batch'> = { requests: [{ resource: 'Comment', action: 'list', where: { status: 'draft' } }] };
// @ts-expect-error: there is no action "publish"
export const otherAction: Body<'/api/batch'> = { requests: [{ resource: 'Article', action: 'publish', id: 'a' }] };
// @ts-expect-error: Article has no field "subject"
export const otherResource: Body<'/api/batch'> = { requests: [{ resource: 'Article', action: 'list', where: { subject: 'x' } }] };
// @ts-expect-error: a rule has no effect "PERMIT"
export const rule: Body<'/admin/api/policies'>['rules'][number] = { resource: 'Article', action: 'read', effect: 'PERMIT' };

const read = await client.GET('/api/Article', { params: { query: { limit: 5 } } });
// @ts-expect-error: Article has no field "headline"
read.data?.data[0]?.headline;
// @ts-expect-error: there is no code "RECORD_MISSING"
export const isMissing: boolean = read.error?.code === 'RECORD_MISSING';
