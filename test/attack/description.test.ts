/** Hidden names of resources and fields appear neither in the API description nor in the suggestions of errors. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { type AttackTarget, type Caller, expectDiscreet, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

/** Returns the names of the resources that a document describes. */
async function described(caller: Caller, from: AttackTarget = target): Promise<readonly string[]> {
  const reply = await from.as(caller, 'GET', '/openapi.json');
  expect(reply.status, reply.text).toBe(200);
  const { paths, components } = reply.body as { paths: object; components: { schemas: object } };
  const names = ['Case', 'User'].filter((name) => `/api/${name}` in paths);
  for (const name of ['Case', 'User'].filter((each) => !names.includes(each))) {
    expect(Object.keys(components.schemas).filter((schema) => schema.split('.')[0] === name)).toEqual([]);
    expect(Object.keys(paths).filter((path) => path.startsWith(`/api/${name}`))).toEqual([]);
  }
  return names;
}

describe('the description of the API', () => {
  it('describes to each caller exactly the resources whose schema the caller can read', async () => {
    for (const caller of ['anon', 'alice', 'eve', 'admin'] as const) {
      const allowed = [];
      for (const name of ['Case', 'User']) if ((await target.as(caller, 'GET', `/api/${name}/schema`)).status === 200) allowed.push(name);
      expect(await described(caller), caller).toEqual(allowed);
    }
    expect([await described('anon'), await described('alice')]).toEqual([['Case'], ['Case', 'User']]);
  });

  it('does not describe a hidden resource, even if another resource refers to it', async () => {
    const { text } = await target.as('anon', 'GET', '/openapi.json');
    for (const name of ['/schemas/User', '/api/User', '"User.']) expect(text).not.toContain(name);
  });

  it('describes the API after a policy change with the next request', async () => {
    const id = await target.createPolicy({ role: 'anon', rules: [{ resource: 'User', action: 'list' }] });
    expect(await described('anon')).toEqual(['Case', 'User']);
    const off = await target.as('admin', 'PUT', `/admin/api/policies/${id}`, { body: { isActive: false } });
    expect(off.status, off.text).toBe(200);
    expect(await described('anon')).toEqual(['Case']);
    await target.as('admin', 'PUT', `/admin/api/policies/${id}`, { body: { isActive: true } });
    expect(await described('anon')).toEqual(['Case', 'User']);
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    expect(await described('anon')).toEqual(['Case']);
  });

  it('refuses the description with an invalid token, and forbids proxies to store it', async () => {
    expect((await target.call('GET', '/openapi.json', { token: 'a.b.c' })).status).toBe(401);
    const user = await target.user();
    await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { isActive: false } });
    expect((await target.call('GET', '/openapi.json', { token: user.token })).status).toBe(401);
    expect((await target.as('anon', 'GET', '/openapi.json')).headers['cache-control']).toBe('no-store');
  });

  it('describes the API without an audit entry', async () => {
    const before = await target.decisions('limit=1');
    await described('anon');
    await described('alice');
    expect((await target.decisions('limit=1'))[0]).toEqual(before[0]);
  });
});

it('a description for admins only is refused to other callers, with an audit entry', async () => {
  const own = await startAttackTarget({ docs: 'admin' });
  try {
    expect((await own.as('anon', 'GET', '/openapi.json')).status).toBe(401);
    const refused = await own.as('alice', 'GET', '/openapi.json');
    expect([refused.status, refused.at('code')]).toEqual([403, 'ACCESS_ADMIN']);
    expect((await own.decisions('kind=admin&allowed=false&limit=1'))[0]).toMatchObject({ id: refused.at('decisionId') });
    expect(await described('admin', own)).toEqual(['Case', 'User']);
    expect((await own.as('anon', 'GET', '/docs')).status).toBe(200);
  } finally {
    await own.close();
  }
});

it('a description that is disabled is 404; the pages of error codes are still served', async () => {
  const service: RunningService = await startService({ settings: { docs: 'off' } });
  try {
    const { token } = await service.admin();
    for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css'])
      expect((await service.call('GET', path, { token })).status, path).toBe(404);
    expect((await service.call('GET', '/docs/errors')).status).toBe(200);
  } finally {
    await service.close();
  }
});

describe('a hidden name in an error', () => {
  it('suggests no hidden name of a resource in an error', async () => {
    for (const caller of ['anon', 'alice', 'eve'] as const) {
      for (const name of ['Usr', 'user', 'Cse', 'Users']) {
        const reply = await target.as(caller, 'GET', `/api/${name}`);
        expectDiscreet(reply);
        expect([reply.status, reply.at('detail')]).toEqual([404, `no resource is named "${name}"`]);
      }
    }
    expect((await target.as('admin', 'GET', '/api/Usr')).at('detail')).toContain('did you mean "User"?');
  });

  it('suggests no hidden name of a resource in an error of a batch', async () => {
    const body = { requests: [{ resource: 'Usr', action: 'list' }] };
    expect((await target.as('anon', 'POST', '/api/batch', { body })).text).not.toContain('"User"');
  });

  it('suggests no hidden name of a field to a caller who is denied the resource', async () => {
    const id = target.ids.alice;
    for (const [send, body] of [
      ['GET /api/User?where[departmnt]=x', undefined],
      ['GET /api/User?sort=departmnt', undefined],
      ['GET /api/User?fields=departmnt', undefined],
      [`GET /api/User/${id}?fields=departmnt`, undefined],
      ['POST /api/User', { departmnt: 'x' }],
      [`PUT /api/User/${id}`, { departmnt: 'x' }],
      ['POST /api/User/export', { where: { departmnt: 'x' } }],
      ['POST /api/User/import', { data: [{ departmnt: 'x' }] }],
      ['POST /api/User/createIfNotExists', { filter: { departmnt: 'x' }, data: { departmnt: 'x' } }],
      ['POST /api/User/updateIfExists', { filter: { departmnt: 'x' }, data: { departmnt: 'x' } }],
    ] as const) {
      const [method = '', path = ''] = send.split(' ');
      const reply = await target.as('anon', method, path, { body });
      expect([send, reply.status, /department|recovery/.test(reply.text)]).toEqual([send, 403, false]);
    }
  });

  it('suggests no hidden name of a referencing resource', async () => {
    const expand = async (given: string): Promise<unknown> => (await target.as('anon', 'GET', `/api/Case?expand=${given}`)).at('detail');
    const answers = await Promise.all(['x:User.departmnt', 'x:User.email', 'x:Usr.email', 'x:Nothing.email'].map(expand));
    for (const answer of answers) expect(answer).toMatch(/^expand\.x: no field "\w+" of a resource "\w+" refers to one Case$/);
  });
});
