/** Soft deletes: deleted records are hidden in every action, free their unique values, are restored with their cascade, and are listed to callers who may delete them. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';
import { LEAVES_OTHERS, startFolders } from './soft-delete-service.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;
beforeAll(async () => {
  context = await startFolders();
});
afterAll(() => context.service.close());

const allowed = (action: string, more: object = {}): object => ({ action, allowed: true, ...more });
const denied = (action: string, more: object = {}): object => ({ action, allowed: false, ...more });
const creates = (name: string, resource: string, body: object): Scenario => ({
  name: `creates ${resource} ${name} for the next scenarios`,
  as: 'admin',
  send: `POST /api/${resource}`,
  body,
  status: 201,
  keep: { [name]: 'data.id' },
  entries: [allowed('create')],
});
const deletes = (send: string, count = 1, more: Partial<Scenario> = {}): Scenario => ({
  name: `allows DELETE ${send}`,
  as: 'admin',
  send: `DELETE /api/${send}`,
  status: 200,
  entries: Array.from({ length: count }, () => allowed('delete')),
  ...more,
});
const restores = (resource: string, id: string, more: Partial<Scenario> = {}): Scenario => ({
  name: `restores the deleted ${resource} ${id}`,
  as: 'admin',
  send: `POST /api/${resource}/restore`,
  body: { id },
  status: 200,
  entries: [allowed('delete', { recordId: id })],
  ...more,
});
const finds = (query: string, ids: readonly string[], more: Partial<Scenario> = {}): Scenario => ({
  name: `finds ${ids.join(', ') || 'none'} by ${query}`,
  as: 'admin',
  send: `GET /api/${query}`,
  status: 200,
  body_has: { count: ids.length, data: ids.map((id) => ({ id: `{${id}}` })) },
  entries: [allowed('list')],
  ...more,
});

describe('a deleted record', () => {
  checkScenarios(
    () => context,
    [
      creates('folder', 'Folder', { label: 'f' }),
      creates('kept', 'Article', { slug: 'kept', folderId: '{folder}' }),
      creates('gone', 'Article', { slug: 'gone', ownerId: '{maya}', section: 'front', place: 1 }),
      creates('about', 'Comment', { text: 'about', articleId: '{kept}' }),
      deletes('Article/{gone}', 1, { body_has: { data: { id: '{gone}' } } }),
      finds('Article', ['kept']),
      finds('Article?where[slug]=gone', []),
      finds('Article?where[deletedAt][exists]=true', []),
      finds('Article?where[deletedBy]={admin}', []),
      finds('Article?total=true', ['kept'], { body_has: { total: 1 } }),
      finds('Article?where[slug][matches]=g', [], { name: 'omits a deleted record from a list that is filtered in memory' }),
      {
        name: 'omits a deleted record from an export',
        as: 'admin',
        send: 'POST /api/Article/export',
        body: {},
        status: 200,
        body_has: { count: 1 },
        entries: [allowed('export')],
      },
      {
        name: 'a deleted record cannot be referenced',
        as: 'admin',
        send: 'POST /api/Comment',
        body: { articleId: '{gone}', aboutIds: ['{kept}', '{gone}'] },
        status: 422,
        body_has: { errors: [{ path: 'articleId', code: 'reference' }, { path: 'aboutIds.1' }] },
        entries: [allowed('create', { outcome: 'VALUE_INVALID' })],
      },
      {
        name: 'updateIfExists does not match a deleted record',
        as: 'admin',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: 'gone' }, data: { section: 'x' } },
        status: 200,
        body_has: { updated: false, data: null },
        entries: [allowed('update'), allowed('read')],
      },
      {
        name: 'a deleted record frees its unique values',
        as: 'admin',
        send: 'POST /api/Article/createIfNotExists',
        body: { filter: { slug: 'gone' }, data: { slug: 'gone', section: 'front', place: 1 } },
        status: 201,
        keep: { second: 'data.id' },
        body_has: { created: true, data: { deletedAt: null, deletedBy: null } },
        entries: [allowed('create'), allowed('read')],
      },
      {
        name: 'a deleted record does not affect uniqueness among other records',
        as: 'admin',
        send: 'POST /api/Article',
        body: { slug: 'gone' },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'slug' }] },
        entries: [allowed('create', { outcome: 'RECORD_EXISTS' })],
      },
      restores('Article', '{gone}', {
        name: 'a deleted record cannot be restored while another record has its unique value',
        status: 409,
        body_has: { code: 'RECORD_EXISTS' },
        entries: [allowed('delete', { outcome: 'RECORD_EXISTS', recordId: '{gone}' })],
      }),
      deletes('Article/{second}'),
      restores('Article', '{gone}', {
        body_has: { data: { id: '{gone}' } },
        body_lacks: ['data.slug', 'data.version'],
      }),
      finds('Article?where[slug]=gone', ['gone'], {
        body_has: { data: [{ id: '{gone}', version: 3, deletedAt: null, deletedBy: null }] },
      }),
    ],
    it,
  );
});

describe('a deleted record in every action', () => {
  const requests: readonly (readonly [send: string, body?: object])[] = [
    ['GET /api/Article/<id>'],
    ['GET /api/Article/<id>?fields=slug'],
    ['PUT /api/Article/<id>', { section: 'x' }],
    ['DELETE /api/Article/<id>'],
    ['POST /api/Article/read', { id: '<id>' }],
    ['POST /api/Article/update', { id: '<id>', data: { section: 'x' } }],
    ['POST /api/Article/delete', { id: '<id>' }],
    ['POST /api/batch', { requests: [{ resource: 'Article', action: 'read', id: '<id>' }] }],
    ['POST /api/batch', { requests: [{ resource: 'Article', action: 'delete', id: '<id>' }], atomic: true }],
    ['POST /api/Article/import', { data: [{ id: '<id>', section: 'x' }], mode: 'upsert', key: 'id' }],
    ['POST /admin/api/policies/who-can', { resource: 'Article', action: 'read', id: '<id>' }],
  ];
  const unknown = '0190aaaa-0000-7000-8000-000000000000';

  it.each(['admin', 'maya', 'lea', undefined])(
    'a deleted record has the same response as a record that never existed, for %s',
    async (as) => {
      const { service, tokens, kept } = context;
      const id = await service.createRecord('Article', { slug: `hidden-${as}`, ownerId: kept.get('maya') });
      await service.call('DELETE', `/api/Article/${id}`, { token: tokens.get('admin') });
      const present = await service.createRecord('Article', { slug: `present-${as}` });
      const ask = async (send: string, body: object | undefined, which: string): Promise<readonly unknown[]> => {
        const fill = (text: string): string => text.replaceAll('<id>', which);
        const [method = '', path = ''] = fill(send).split(' ');
        const sent = body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) as object };
        const { status, text } = await service.call(method, path, { token: as === undefined ? undefined : tokens.get(as), ...sent });
        const plain = text.replaceAll(which, '<id>').replace(/"(requestId|decisionId)":"[^"]*"/g, '"$1":""');
        return [send, status, plain];
      };
      for (const [send, body] of requests) expect(await ask(send, body, id)).toEqual(await ask(send, body, unknown));
      // For a restore, a record that is not deleted has that response.
      const restore = ['POST /api/Article/restore', { id: '<id>' }] as const;
      if (as !== 'maya') expect(await ask(...restore, present)).toEqual(await ask(...restore, unknown));
    },
  );
});

describe('references and soft deletes', () => {
  checkScenarios(
    () => context,
    [
      creates('tree', 'Folder', { label: 'tree' }),
      creates('leaf', 'Article', { slug: 'leaf', folderId: '{tree}' }),
      creates('old', 'Article', { slug: 'old', folderId: '{tree}' }),
      creates('note', 'Comment', { text: 'note', articleId: '{leaf}' }),
      creates('list', 'Comment', { text: 'list', aboutIds: ['{leaf}', '{kept}'] }),
      creates('proof', 'Proof', { articleId: '{leaf}' }),
      deletes('Article/{old}'),
      creates('contract', 'Contract', { articleId: '{leaf}' }),
      deletes('Folder/{tree}', 0, {
        name: 'a restricting reference prevents a deletion',
        status: 409,
        body_has: {
          code: 'RECORD_REFERENCED',
        },
        entries: [allowed('delete'), allowed('delete', { resource: 'Article' })],
      }),
      deletes('Contract/{contract}'),
      deletes('Folder/{tree}', 5, { name: 'a deletion includes referencing records, transitively' }),
      finds('Article?where[folderId]={tree}', []),
      finds('Comment?where[text][in]=note,list', []),
      finds('Proof', [], { name: 'a deletion removes records of resources without softDelete permanently' }),
      restores('Folder', '{tree}', {
        name: 'a restore includes records that were deleted with the record',
        entries: [
          allowed('delete', { resource: 'Folder' }),
          allowed('delete', { resource: 'Article', recordId: '{leaf}' }),
          allowed('delete', { resource: 'Comment' }),
          allowed('delete', { resource: 'Comment' }),
        ],
      }),
      finds('Article?where[folderId]={tree}', ['leaf'], { name: 'a restore does not include records that were deleted earlier' }),
      finds('Comment?where[text][in]=note,list', ['note', 'list']),
      finds('Proof', []),
      deletes('Folder/{tree}', 4),
      restores('Comment', '{note}', {
        name: 'a record is not restored without the record that it references',
        status: 422,
        body_has: { code: 'VALUE_INVALID', errors: [{ path: 'articleId', code: 'reference' }] },
        entries: [allowed('delete', { outcome: 'VALUE_INVALID' })],
      }),
      restores('Comment', '{list}', {
        name: 'a record is not restored without an item of its list of references',
        status: 422,
        body_has: { errors: [{ path: 'aboutIds', code: 'reference' }] },
        entries: [allowed('delete', { outcome: 'VALUE_INVALID' })],
      }),
      restores('Folder', '{tree}', {
        name: 'a restore is refused if one of its records is denied',
        as: 'lea',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [
          allowed('delete', { resource: 'Folder', outcome: 'ACCESS_DENIED' }),
          denied('delete', { resource: 'Article', recordId: '{leaf}' }),
        ],
      }),
      {
        name: 'a rule can deny a restore of records that other users deleted',
        as: 'maya',
        send: 'POST /api/Folder/restore',
        body: { id: '{tree}' },
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [denied('delete', { resource: 'Folder', reason: 'denied by rule "what others deleted" of policy "own articles"' })],
      },
      finds('Folder?where[label]=tree', []),
    ],
    it,
  );

  it('setNull also clears references of deleted records', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    const [folder, first] = [await service.createRecord('Folder', {}), await service.createRecord('Article', { slug: 'first' })];
    const second = await service.createRecord('Article', { slug: 'second', nextId: first });
    const third = await service.createRecord('Article', { slug: 'third', nextId: first, hint: folder });
    await service.call('DELETE', `/api/Article/${third}`, { token });
    await service.call('DELETE', `/api/Article/${first}`, { token });
    expect((await service.call('GET', `/api/Article/${second}`, { token })).at('data.nextId')).toBeNull();
    expect((await service.call('POST', '/api/Article/restore', { token, body: { id: third } })).status).toBe(200);
    expect((await service.call('GET', `/api/Article/${third}`, { token })).at('data.nextId')).toBeNull();
  });

  it('a deleted record prevents the permanent deletion of a record that it references', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    const contract = await service.createRecord('Contract', {});
    const pledge = await service.createRecord('Pledge', { label: 'p', contractId: contract });
    await service.call('DELETE', `/api/Pledge/${pledge}`, { token });
    const refused = await service.call('DELETE', `/api/Contract/${contract}`, { token });
    expect([refused.status, refused.at('code'), refused.at('detail')]).toEqual([
      409,
      'RECORD_REFERENCED',
      expect.stringContaining('Pledge.contractId'),
    ]);
    expect((await service.call('POST', '/api/Pledge/restore', { token, body: { id: pledge } })).status).toBe(200);
  });

  it('a restore has the same limit as a cascade', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    const folder = await service.createRecord('Folder', { label: 'many' });
    for (let n = 0; n < 12; n++) await service.createRecord('Article', { slug: `many-${n}`, folderId: folder });
    const other = await service.createRecord('Folder', { label: 'more' });
    for (let n = 0; n < 12; n++) await service.createRecord('Article', { slug: `more-${n}`, folderId: other });
    for (const id of [folder, other]) expect((await service.call('DELETE', `/api/Folder/${id}`, { token })).status).toBe(200);
    const requests = [folder, other].map((id) => ({ resource: 'Folder', action: 'restore', id }));
    const both = await service.call('POST', '/api/batch', { token, body: { requests, atomic: true } });
    expect([both.status, both.at('code')]).toEqual([409, 'RECORD_REFERENCED']);
    for (const id of [folder, other]) expect((await service.call('POST', '/api/Folder/restore', { token, body: { id } })).status).toBe(200);
  });
});

describe('a restore', () => {
  checkScenarios(
    () => context,
    [
      creates('own', 'Article', { slug: 'own', ownerId: '{maya}' }),
      creates('others', 'Article', { slug: 'others' }),
      deletes('Article/{own}', 1, { as: 'maya', name: 'Maya deletes her own article' }),
      deletes('Article/{others}'),
      restores('Article', '{own}', {
        name: 'decides a restore like a delete, on the deleted record',
        as: 'lea',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [denied('delete', { recordId: '{own}' })],
      }),
      restores('Article', '{own}', {
        name: 'denies a restore to anonymous callers',
        as: 'nobody',
        status: 403,
        entries: [denied('delete', { role: 'anon' })],
      }),
      restores('Article', '{own}', {
        name: 'respects If-Match in a restore',
        headers: { 'if-match': '"1"' },
        status: 412,
        entries: [allowed('delete', { outcome: 'RECORD_VERSION' })],
      }),
      restores('Article', '{own}', {
        name: 'allows a restore to the caller who deleted the record',
        as: 'maya',
        body: { id: '{own}', ifMatch: 2 },
      }),
      restores('Article', '{own}', {
        name: 'refuses to restore a record twice',
        status: 404,
        body_has: { code: 'RECORD_UNKNOWN' },
        entries: [allowed('delete', { outcome: 'RECORD_UNKNOWN' })],
      }),
      restores('Proof', '{own}', {
        name: 'refuses a restore for a resource without softDelete',
        status: 400,
        body_has: { code: 'SOFT_DELETE_DISABLED' },
        entries: [allowed('delete', { outcome: 'SOFT_DELETE_DISABLED' })],
      }),
      restores('Proof', '{own}', {
        name: 'a denied restore does not reveal that softDelete is off',
        as: 'lea',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [denied('delete')],
      }),
      restores('User', '{maya}', {
        name: 'refuses a restore of a user',
        status: 400,
        body_has: { code: 'SOFT_DELETE_DISABLED' },
        entries: [allowed('delete', { outcome: 'SOFT_DELETE_DISABLED' })],
      }),
      restores('Article', '{own}', {
        name: 'refuses a restore without an id',
        body: {},
        status: 400,
        entries: [],
      }),
    ],
    it,
  );
});

const listEntries = [allowed('list'), allowed('delete')];

describe('a list of deleted records', () => {
  checkScenarios(
    () => context,
    [
      creates('b1', 'Article', { slug: 'b1', section: 'bin', place: 1, ownerId: '{maya}' }),
      creates('b2', 'Article', { slug: 'b2', section: 'bin', place: 2, ownerId: '{maya}' }),
      creates('b3', 'Article', { slug: 'b3', section: 'bin', place: 3 }),
      deletes('Article/{b1}', 1, { as: 'maya' }),
      deletes('Article/{b2}', 1, { as: 'maya' }),
      deletes('Article/{b3}'),
      finds('Article?deleted=true&where[section]=bin', ['b3', 'b2', 'b1'], {
        body_has: { count: 3, data: [{ id: '{b3}', deletedBy: '{admin}', version: 2 }, { deletedBy: '{maya}' }, {}] },
        entries: listEntries,
      }),
      finds('Article?deleted=true&where[section]=bin&sort=place&limit=1&total=true&fields=slug', ['b1'], {
        body_has: { total: 3, data: [{ slug: 'b1' }] },
        body_lacks: ['data.0.section'],
        keep: { cursor: 'nextCursor' },
        entries: listEntries,
      }),
      finds('Article?deleted=true&where[section]=bin&sort=place&limit=1&total=true&fields=slug&cursor={cursor}', ['b2'], {
        entries: listEntries,
      }),
      finds('Article?where[section]=bin&sort=place&limit=1&total=true&fields=slug&cursor={cursor}', [], {
        name: 'a list of deleted records has its own cursors',
        status: 400,
        body_has: { code: 'REQUEST_CURSOR' },
        entries: [allowed('list', { outcome: 'REQUEST_CURSOR' })],
      }),
      finds('Article?deleted=true&where[section]=bin&where[slug][matches]=b', ['b3', 'b2', 'b1'], { entries: listEntries }),
      finds('Article?deleted=false&where[section]=bin', []),
      finds('Article?deleted=true&where[section]=bin', ['b2', 'b1'], {
        name: 'allows a list of deleted records to callers who may list and delete them',
        as: 'maya',
        entries: listEntries,
      }),
      finds('Article?deleted=true', [], {
        name: 'denies a list of deleted records to callers who may only list',
        as: 'lea',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [allowed('list', { outcome: 'ACCESS_DENIED' }), denied('delete')],
      }),
      finds('Article?deleted=true', [], {
        name: 'denies a list of deleted records to anonymous callers',
        as: 'nobody',
        status: 403,
        body_has: {},
        entries: [denied('list')],
      }),
      finds('Proof?deleted=true', [], {
        name: 'refuses a list of deleted records for a resource without softDelete',
        status: 400,
        body_has: { code: 'SOFT_DELETE_DISABLED' },
        entries: [allowed('list', { outcome: 'SOFT_DELETE_DISABLED' })],
      }),
      finds('Article?deleted=yes', [], {
        name: 'refuses an invalid value of deleted',
        status: 400,
        body_has: { errors: [{ path: 'deleted' }] },
        entries: [],
      }),
      {
        name: 'lists deleted records in a batch, like a restore',
        as: 'maya',
        send: 'POST /api/batch',
        body: {
          requests: [
            { resource: 'Article', action: 'listDeleted', where: { section: 'bin' } },
            { resource: 'Article', action: 'restore', id: '{b1}' },
            { resource: 'Article', action: 'listDeleted', where: { section: 'bin' } },
          ],
        },
        status: 200,
        body_has: { data: [{ status: 200, data: [{ id: '{b2}' }, { id: '{b1}' }] }, { status: 200 }, { data: [{ id: '{b2}' }] }] },
        entries: [...listEntries, allowed('delete'), ...listEntries],
      },
    ],
    it,
  );

  it('describes restore and the list of deleted records only for resources with softDelete', async () => {
    const { service, tokens } = context;
    const described = await service.call('GET', '/api/Article/schema', { token: tokens.get('admin') });
    expect(described.at('data.softDelete')).toBe(true);
    expect((await service.call('GET', '/api/Proof/schema', { token: tokens.get('admin') })).at('data.softDelete')).toBeUndefined();
    const { paths } = (await service.call('GET', '/openapi.json', { token: (await service.admin()).token })).body as {
      paths: Record<string, { get?: { parameters: object[] } }>;
    };
    expect(
      Object.keys(paths)
        .filter((path) => /\/(restore|listDeleted)$/.test(path))
        .sort(),
    ).toEqual(['Article', 'Comment', 'Folder', 'Pledge'].flatMap((name) => [`/api/${name}/listDeleted`, `/api/${name}/restore`]));
    expect(JSON.stringify(paths['/api/Article']?.get)).toContain('"name":"deleted"');
    expect(JSON.stringify(paths['/api/Proof']?.get)).not.toContain('"name":"deleted"');
  });
});

describe('an access query', () => {
  const ask = async (path: string, body: object) => {
    const { service, tokens } = context;
    return service.call('POST', `/admin/api/policies/${path}`, { token: tokens.get('admin'), body });
  };

  it('tests access to a restore like a delete, and the two decisions of listDeleted separately', async () => {
    const test = { user: { id: context.kept.get('maya') }, resource: { name: 'Article', ownerId: context.kept.get('maya') } };
    expect((await ask('test-access', { ...test, action: 'restore' })).at('data.allowed')).toBe(true);
    const deleted = {
      ...test,
      resource: { ...test.resource, deletedAt: '2026-01-01T00:00:00.000Z', deletedBy: context.kept.get('admin') },
    };
    expect((await ask('test-access', { ...deleted, action: 'restore' })).at('data.allowed')).toBe(false);
    const both = await ask('test-access', { ...test, action: 'listDeleted' });
    expect([both.status, both.at('errors.0.path'), both.at('errors.0.code')]).toEqual([400, 'action', 'enum']);
  });

  it('an access query treats a record to be created as not deleted', async () => {
    const { service } = context;
    const maker = await service.user();
    const conditions = [{ field: 'resource.deletedAt', operator: 'exists', value: false }];
    await service.createPolicy({ userId: maker.id, rules: [{ resource: 'Article', action: 'create', conditions }] });
    const reply = await service.call('POST', `/admin/api/users/${maker.id}/permissions`, {
      token: context.tokens.get('admin'),
      body: { resources: ['Article'] },
    });
    expect(reply.at('data')).toContainEqual(expect.objectContaining({ resource: 'Article', action: 'create', effect: 'allow' }));
  });
});

describe('concurrent restores and creates', () => {
  it('exactly one of concurrent restores and creates with the same unique value succeeds', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    for (let n = 0; n < 5; n++) {
      const id = await service.createRecord('Article', { slug: `raced-${n}` });
      await service.call('DELETE', `/api/Article/${id}`, { token });
      const create = (): Promise<{ status: number }> => service.call('POST', '/api/Article', { token, body: { slug: `raced-${n}` } });
      const restore = (): Promise<{ status: number }> => service.call('POST', '/api/Article/restore', { token, body: { id } });
      const replies = await Promise.all([create(), restore(), create(), restore()]);
      expect(replies.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1);
      expect((await service.call('GET', `/api/Article?where[slug]=raced-${n}`, { token })).at('count')).toBe(1);
    }
  });
});

describe('the rule for records that other users deleted', () => {
  it('a DENY for records that other users deleted also denies a restore of those that an anonymous caller deleted', async () => {
    const { service } = context;
    await service.createPolicy({ role: 'anon', rules: [{ resource: 'Pledge', action: 'delete' }] });
    const user = await service.user();
    await service.createPolicy({
      userId: user.id,
      rules: [
        { resource: 'Pledge', action: 'delete' },
        { ...LEAVES_OTHERS, resource: 'Pledge' },
      ],
    });
    const restore = async (token: string | undefined): Promise<number> => {
      const id = await service.createRecord('Pledge', {});
      expect((await service.call('DELETE', `/api/Pledge/${id}`, { token })).status).toBe(200);
      return (await service.call('POST', '/api/Pledge/restore', { token: user.token, body: { id } })).status;
    };
    expect([await restore(undefined), await restore(user.token)]).toEqual([403, 200]);
  });
});
