/** What is deleted and kept: hidden behind every door, unique no longer, restored with what went along, listed to who may delete it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkScenarios, type Scenario, type Stage } from './scenario.ts';
import { LEAVES_OTHERS, startFolders } from './soft-delete-service.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startFolders();
});
afterAll(() => stage.service.close());

const allowed = (action: string, more: object = {}): object => ({ action, allowed: true, ...more });
const denied = (action: string, more: object = {}): object => ({ action, allowed: false, ...more });
const creates = (name: string, resource: string, body: object): Scenario => ({
  name: `there is ${resource} ${name}`,
  as: 'admin',
  send: `POST /api/${resource}`,
  body,
  status: 201,
  keep: { [name]: 'data.id' },
  entries: [allowed('create')],
});
const deletes = (send: string, count = 1, more: Partial<Scenario> = {}): Scenario => ({
  name: `DELETE ${send}`,
  as: 'admin',
  send: `DELETE /api/${send}`,
  status: 200,
  entries: Array.from({ length: count }, () => allowed('delete')),
  ...more,
});
const restores = (resource: string, id: string, more: Partial<Scenario> = {}): Scenario => ({
  name: `restores ${resource} ${id}`,
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
    () => stage,
    [
      creates('folder', 'Folder', { label: 'f' }),
      creates('kept', 'Article', { slug: 'kept', folderId: '{folder}' }),
      creates('gone', 'Article', { slug: 'gone', ownerId: '{maya}', section: 'front', place: 1 }),
      creates('about', 'Comment', { text: 'about', articleId: '{kept}' }),
      deletes('Article/{gone}', 1, { body_has: { data: { id: '{gone}' }, message: 'deleted Article {gone}' } }),
      finds('Article', ['kept']),
      finds('Article?where[slug]=gone', []),
      finds('Article?where[deletedAt][exists]=true', []),
      finds('Article?where[deletedBy]={admin}', []),
      finds('Article?total=true', ['kept'], { body_has: { total: 1 } }),
      finds('Article?where[slug][matches]=g', [], { name: 'is in no list that is looked through in memory' }),
      {
        name: 'is not exported',
        as: 'admin',
        send: 'POST /api/Article/export',
        body: {},
        status: 200,
        body_has: { count: 1 },
        entries: [allowed('export')],
      },
      {
        name: 'cannot be referred to',
        as: 'admin',
        send: 'POST /api/Comment',
        body: { articleId: '{gone}', aboutIds: ['{kept}', '{gone}'] },
        status: 422,
        body_has: { errors: [{ path: 'articleId', code: 'reference' }, { path: 'aboutIds.1' }] },
        entries: [allowed('create', { outcome: 'VALUE_INVALID' })],
      },
      {
        name: 'is changed by no filter',
        as: 'admin',
        send: 'POST /api/Article/updateIfExists',
        body: { filter: { slug: 'gone' }, data: { section: 'x' } },
        status: 200,
        body_has: { updated: false, data: null },
        entries: [allowed('update'), allowed('read')],
      },
      {
        name: 'keeps no value that is unique',
        as: 'admin',
        send: 'POST /api/Article/createIfNotExists',
        body: { filter: { slug: 'gone' }, data: { slug: 'gone', section: 'front', place: 1 } },
        status: 201,
        keep: { second: 'data.id' },
        body_has: { created: true, data: { deletedAt: null, deletedBy: null } },
        entries: [allowed('create'), allowed('read')],
      },
      {
        name: 'though one that is there does',
        as: 'admin',
        send: 'POST /api/Article',
        body: { slug: 'gone' },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'slug' }] },
        entries: [allowed('create', { outcome: 'RECORD_EXISTS' })],
      },
      restores('Article', '{gone}', {
        name: 'cannot come back while another has what is unique of it',
        status: 409,
        body_has: { code: 'RECORD_EXISTS' },
        entries: [allowed('delete', { outcome: 'RECORD_EXISTS', recordId: '{gone}' })],
      }),
      deletes('Article/{second}'),
      restores('Article', '{gone}', {
        body_has: { data: { id: '{gone}' }, message: 'restored Article {gone}' },
        body_lacks: ['data.slug', 'data.version'],
      }),
      finds('Article?where[slug]=gone', ['gone'], {
        body_has: { data: [{ id: '{gone}', version: 3, deletedAt: null, deletedBy: null }] },
      }),
    ],
  );
});

describe('to every door, a deleted record', () => {
  const doors: readonly (readonly [send: string, body?: object])[] = [
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

  it.each(['admin', 'maya', 'lea', undefined])('is as unknown as one that never was: %s', async (as) => {
    const { service, tokens, kept } = stage;
    const id = await service.createRecord('Article', { slug: `hidden-${as}`, ownerId: kept.get('maya') });
    await service.call('DELETE', `/api/Article/${id}`, { token: tokens.get('admin') });
    const living = await service.createRecord('Article', { slug: `living-${as}` });
    const ask = async (send: string, body: object | undefined, which: string): Promise<readonly unknown[]> => {
      const fill = (text: string): string => text.replaceAll('<id>', which);
      const [method = '', path = ''] = fill(send).split(' ');
      const sent = body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) as object };
      const { status, text } = await service.call(method, path, { token: as === undefined ? undefined : tokens.get(as), ...sent });
      const plain = text.replaceAll(which, '<id>').replace(/"(requestId|decisionId)":"[^"]*"/g, '"$1":""');
      return [send, status, plain];
    };
    for (const [send, body] of doors) expect(await ask(send, body, id)).toEqual(await ask(send, body, unknown));
    // And to be restored, a living one is.
    const restore = ['POST /api/Article/restore', { id: '<id>' }] as const;
    if (as !== 'maya') expect(await ask(...restore, living)).toEqual(await ask(...restore, unknown));
  });
});

describe('what goes with a deleted record', () => {
  checkScenarios(
    () => stage,
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
        name: 'is nothing while something refers to it that restricts',
        status: 409,
        body_has: {
          code: 'RECORD_REFERENCED',
          detail:
            'Contract.articleId refers to one of the Article records that would be deleted with this one; delete or change the referencing records first',
        },
        entries: [allowed('delete'), allowed('delete', { resource: 'Article' })],
      }),
      deletes('Contract/{contract}'),
      deletes('Folder/{tree}', 5, { name: 'is what refers to it, however far' }),
      finds('Article?where[folderId]={tree}', []),
      finds('Comment?where[text][in]=note,list', []),
      finds('Proof', [], { name: 'what is not kept is gone' }),
      restores('Folder', '{tree}', {
        name: 'comes back with it',
        entries: [
          allowed('delete', { resource: 'Folder' }),
          allowed('delete', { resource: 'Article', recordId: '{leaf}' }),
          allowed('delete', { resource: 'Comment' }),
          allowed('delete', { resource: 'Comment' }),
        ],
      }),
      finds('Article?where[folderId]={tree}', ['leaf'], { name: 'save what had been deleted before' }),
      finds('Comment?where[text][in]=note,list', ['note', 'list']),
      finds('Proof', []),
      deletes('Folder/{tree}', 4),
      restores('Comment', '{note}', {
        name: 'does not come back without it',
        status: 422,
        body_has: { code: 'VALUE_INVALID', errors: [{ path: 'articleId', code: 'reference' }] },
        entries: [allowed('delete', { outcome: 'VALUE_INVALID' })],
      }),
      restores('Comment', '{list}', {
        name: 'nor without an item of its list',
        status: 422,
        body_has: { errors: [{ path: 'aboutIds', detail: 'Comment.aboutIds refers to a record that is deleted or does not exist' }] },
        entries: [allowed('delete', { outcome: 'VALUE_INVALID' })],
      }),
      restores('Folder', '{tree}', {
        name: 'comes back as a whole or not at all',
        as: 'lea',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [
          allowed('delete', { resource: 'Folder', outcome: 'ACCESS_DENIED' }),
          denied('delete', { resource: 'Article', recordId: '{leaf}' }),
        ],
      }),
      {
        name: 'does not come back by who did not delete it, where a rule says so',
        as: 'maya',
        send: 'POST /api/Folder/restore',
        body: { id: '{tree}' },
        status: 403,
        body_has: { detail: 'denied by rule "what others deleted" of policy "own articles"' },
        entries: [denied('delete', { resource: 'Folder' })],
      },
      finds('Folder?where[label]=tree', []),
    ],
  );

  it('is emptied where it says setNull, of deleted records too', async () => {
    const { service, tokens } = stage;
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

  it('keeps what it refers to, where that would be gone for good', async () => {
    const { service, tokens } = stage;
    const token = tokens.get('admin');
    const contract = await service.createRecord('Contract', {});
    const pledge = await service.createRecord('Pledge', { label: 'p', contractId: contract });
    await service.call('DELETE', `/api/Pledge/${pledge}`, { token });
    const refused = await service.call('DELETE', `/api/Contract/${contract}`, { token });
    expect([refused.status, refused.at('code'), refused.at('detail')]).toEqual([
      409,
      'RECORD_REFERENCED',
      expect.stringMatching(/Pledge\.contractId of a soft-deleted record/),
    ]);
    expect((await service.call('POST', '/api/Pledge/restore', { token, body: { id: pledge } })).status).toBe(200);
  });

  it('is bounded when it comes back, as when it goes', async () => {
    const { service, tokens } = stage;
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

describe('restoring', () => {
  checkScenarios(
    () => stage,
    [
      creates('own', 'Article', { slug: 'own', ownerId: '{maya}' }),
      creates('others', 'Article', { slug: 'others' }),
      deletes('Article/{own}', 1, { as: 'maya', name: 'Maya deletes her own' }),
      deletes('Article/{others}'),
      restores('Article', '{own}', {
        name: 'is decided as a deletion, on the record as it stands',
        as: 'lea',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [denied('delete', { recordId: '{own}' })],
      }),
      restores('Article', '{own}', {
        name: 'is not for anon',
        as: 'nobody',
        status: 403,
        entries: [denied('delete', { role: 'anon' })],
      }),
      restores('Article', '{own}', {
        name: 'goes by If-Match',
        headers: { 'if-match': '"1"' },
        status: 412,
        entries: [allowed('delete', { outcome: 'RECORD_VERSION' })],
      }),
      restores('Article', '{own}', { name: 'is for who deleted it', as: 'maya', body: { id: '{own}', ifMatch: 2 } }),
      restores('Article', '{own}', {
        name: 'is done once',
        status: 404,
        body_has: { code: 'RECORD_UNKNOWN' },
        entries: [allowed('delete', { outcome: 'RECORD_UNKNOWN' })],
      }),
      restores('Proof', '{own}', {
        name: 'is nothing where nothing is kept',
        status: 400,
        body_has: { code: 'RESOURCE_NO_BIN' },
        entries: [allowed('delete', { outcome: 'RESOURCE_NO_BIN' })],
      }),
      restores('Proof', '{own}', {
        name: 'which who is denied does not learn',
        as: 'lea',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [denied('delete')],
      }),
      restores('User', '{maya}', {
        name: 'is nothing for users',
        status: 400,
        body_has: { code: 'RESOURCE_NO_BIN' },
        entries: [allowed('delete', { outcome: 'RESOURCE_NO_BIN' })],
      }),
      restores('Article', '{own}', {
        name: 'needs an id',
        body: {},
        status: 400,
        entries: [],
      }),
    ],
  );
});

const bin = [allowed('list'), allowed('delete')];

describe('the deleted records', () => {
  checkScenarios(
    () => stage,
    [
      creates('b1', 'Article', { slug: 'b1', section: 'bin', place: 1, ownerId: '{maya}' }),
      creates('b2', 'Article', { slug: 'b2', section: 'bin', place: 2, ownerId: '{maya}' }),
      creates('b3', 'Article', { slug: 'b3', section: 'bin', place: 3 }),
      deletes('Article/{b1}', 1, { as: 'maya' }),
      deletes('Article/{b2}', 1, { as: 'maya' }),
      deletes('Article/{b3}'),
      finds('Article?deleted=true&where[section]=bin', ['b3', 'b2', 'b1'], {
        body_has: { count: 3, data: [{ id: '{b3}', deletedBy: '{admin}', version: 2 }, { deletedBy: '{maya}' }, {}] },
        entries: bin,
      }),
      finds('Article?deleted=true&where[section]=bin&sort=place&limit=1&total=true&fields=slug', ['b1'], {
        body_has: { total: 3, data: [{ slug: 'b1' }] },
        body_lacks: ['data.0.section'],
        keep: { cursor: 'nextCursor' },
        entries: bin,
      }),
      finds('Article?deleted=true&where[section]=bin&sort=place&limit=1&total=true&fields=slug&cursor={cursor}', ['b2'], { entries: bin }),
      finds('Article?where[section]=bin&sort=place&limit=1&total=true&fields=slug&cursor={cursor}', [], {
        name: 'have cursors of their own',
        status: 400,
        body_has: { code: 'REQUEST_CURSOR' },
        entries: [allowed('list', { outcome: 'REQUEST_CURSOR' })],
      }),
      finds('Article?deleted=true&where[section]=bin&where[slug][matches]=b', ['b3', 'b2', 'b1'], { entries: bin }),
      finds('Article?deleted=false&where[section]=bin', []),
      finds('Article?deleted=true&where[section]=bin', ['b2', 'b1'], {
        name: 'are for who may list and delete them',
        as: 'maya',
        entries: bin,
      }),
      finds('Article?deleted=true', [], {
        name: 'are not for who may only list',
        as: 'lea',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [allowed('list', { outcome: 'ACCESS_DENIED' }), denied('delete')],
      }),
      finds('Article?deleted=true', [], { name: 'nor for anon', as: 'nobody', status: 403, body_has: {}, entries: [denied('list')] }),
      finds('Proof?deleted=true', [], {
        name: 'are none where none are kept',
        status: 400,
        body_has: { code: 'RESOURCE_NO_BIN' },
        entries: [allowed('list', { outcome: 'RESOURCE_NO_BIN' })],
      }),
      finds('Article?deleted=yes', [], { status: 400, body_has: { errors: [{ path: 'deleted' }] }, entries: [] }),
      {
        name: 'are listed in a batch, and restored there',
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
        entries: [...bin, allowed('delete'), ...bin],
      },
    ],
  );

  it('are described where there may be some', async () => {
    const { service, tokens } = stage;
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

describe('asking ahead', () => {
  const ask = async (path: string, body: object) => {
    const { service, tokens } = stage;
    return service.call('POST', `/admin/api/policies/${path}`, { token: tokens.get('admin'), body });
  };

  it('asks about a restoring as about a deletion, and about the two decisions of listing what is deleted one by one', async () => {
    const test = { user: { id: stage.kept.get('maya') }, resource: { name: 'Article', ownerId: stage.kept.get('maya') } };
    expect((await ask('test-access', { ...test, action: 'restore' })).at('data.allowed')).toBe(true);
    const deleted = { ...test, resource: { ...test.resource, deletedAt: '2026-01-01T00:00:00.000Z', deletedBy: stage.kept.get('admin') } };
    expect((await ask('test-access', { ...deleted, action: 'restore' })).at('data.allowed')).toBe(false);
    const both = await ask('test-access', { ...test, action: 'listDeleted' });
    expect([both.status, both.at('errors.0.path'), both.at('errors.0.detail')]).toEqual([
      422,
      'action',
      'expected list or delete: listDeleted needs both',
    ]);
  });

  it('knows that what is still to be made is not deleted', async () => {
    const { service } = stage;
    const maker = await service.user();
    const conditions = [{ field: 'resource.deletedAt', operator: 'exists', value: false }];
    await service.createPolicy({ userId: maker.id, rules: [{ resource: 'Article', action: 'create', conditions }] });
    const reply = await service.call('POST', `/admin/api/users/${maker.id}/permissions`, {
      token: stage.tokens.get('admin'),
      body: { resources: ['Article'] },
    });
    expect(reply.at('data')).toContainEqual(expect.objectContaining({ resource: 'Article', action: 'create', effect: 'allow' }));
  });
});

describe('of a restore and a create of the same unique value at once', () => {
  it('one is done', async () => {
    const { service, tokens } = stage;
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

describe('the rule that leaves what others deleted to others', () => {
  it('leaves to nobody else what somebody without a token deleted', async () => {
    const { service } = stage;
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
