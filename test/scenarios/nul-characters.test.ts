/**
 * NUL in the texts of requests that reach SQL: PostgreSQL refuses it in parameters, and SQLite does not. The answers are the same on both.
 * `request-faults.test.ts` sends it in each parameter of each operation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  const admin = await service.admin();
  token = admin.token;
  await service.createRecord('Article', { title: 'A budget', slug: 'a-budget', authorId: admin.id });
});
afterAll(() => service.close());

const toCursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const nul = 'a\0b';

describe('a question with NUL', () => {
  it.each<[call: string, body: unknown, status: number, outcome: unknown]>([
    ['GET /admin/api/decisions?userId=a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/decisions/histogram?recordId=a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/decisions/export?requestId=a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/policies?assignedTo=user:a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/policies?search=%00&tag=%00', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/users?search=a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    ['GET /admin/api/assignments?userId=a%00b', undefined, 400, 'REQUEST_PARAMETER'],
    [`GET /admin/api/policies?cursor=${toCursor(['policies', 'id', nul, null])}`, undefined, 400, 'REQUEST_CURSOR'],
    [`GET /admin/api/policies?sort=name&cursor=${toCursor(['policies', 'name', 'x', nul])}`, undefined, 400, 'REQUEST_CURSOR'],
    [`GET /admin/api/policies?sort=priority&cursor=${toCursor(['policies', 'priority', 'x', 1e300])}`, undefined, 400, 'REQUEST_CURSOR'],
    [`GET /admin/api/policies?sort=priority&cursor=${toCursor(['policies', 'priority', 'x', 1.5])}`, undefined, 400, 'REQUEST_CURSOR'],
    ['POST /admin/api/policies/preview', { draft: {}, filter: { userId: nul } }, 400, 'REQUEST_MALFORMED'],
    ['POST /admin/api/policies/who-can', { resource: 'Article', action: 'read', id: nul }, 400, 'REQUEST_MALFORMED'],
    [
      'POST /admin/api/policies/test-access',
      { user: { id: nul }, resource: { name: 'Article' }, action: 'read' },
      400,
      'REQUEST_MALFORMED',
    ],
    ['POST /auth/me/permissions', { resource: 'Article', ids: [nul] }, 400, 'REQUEST_MALFORMED'],
    ['POST /api/Article/read', { id: nul }, 400, 'REQUEST_MALFORMED'],
    ['POST /api/Article/delete', { id: nul }, 400, 'REQUEST_MALFORMED'],
    ['POST /auth/login', { email: `${nul}@example.com`, password: 'not the password' }, 400, 'REQUEST_MALFORMED'],
    // No stored text contains NUL, so no record matches. A validation has its mistakes in the answer.
    ['POST /admin/api/policies/validate', { id: nul }, 200, undefined],
    ['GET /api/Article?where[title]=a%00b', undefined, 200, 0],
    ['GET /api/Article?where[title][icontains]=%00', undefined, 200, 0],
    ['GET /api/Article?where[id]=a%00b', undefined, 200, 0],
    ['GET /api/Article?where[authorId][in]=a%00b,c', undefined, 200, 0],
    ['POST /api/Article/list', { where: { title: { startsWith: nul } } }, 200, 0],
    ['POST /api/Article/list', { where: { id: { gt: nul } } }, 200, 0],
    ['POST /auth/refresh', { refreshToken: nul }, 401, 'IDENTITY_TOKEN'],
  ])('%s with %j is answered with %i %s', async (call, body, status, outcome) => {
    const [method = '', path = ''] = call.split(' ');
    const reply = await service.call(method, path, { token, ...(body !== undefined && { body }) });
    expect([reply.status, reply.at(status === 200 ? 'count' : 'code')]).toEqual([status, outcome]);
  });
});
