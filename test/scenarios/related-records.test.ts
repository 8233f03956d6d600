/** Conditions on related records: memberships, counts, nested relations. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { examples, guide } from './examples.ts';

const ORGANISATION = `
name: Organisation
fields:
  name: { type: string, required: true }
`;
const MEMBERSHIP = `
name: Membership
softDelete: true
fields:
  userId:         { type: reference, to: User, onDelete: restrict }
  organisationId: { type: reference, to: Organisation, onDelete: restrict }
  level:          { type: enum, values: [reader, editor, owner] }
  expiresAt:      { type: timestamp }
  places:         { type: integer }
indexes:
  - { fields: [userId, organisationId] }
`;
const DOCUMENT = `
name: Document
fields:
  title:          { type: string, required: true }
  organisationId: { type: reference, to: Organisation, onDelete: setNull }
  parentId:       { type: reference, to: Document, onDelete: setNull }
  share:          { type: number }
`;

let service: RunningService;
let admin: TestUser;
let mia: TestUser;
let news: string;
let sports: string;
beforeAll(async () => {
  const definitions = { 'Organisation.yaml': ORGANISATION, 'Membership.yaml': MEMBERSHIP, 'Document.yaml': DOCUMENT };
  service = await startService({ definitions, settings: { conditionRelatedRecords: '5' } });
  [admin, mia] = [await service.admin(), await service.user()];
  [news, sports] = [
    await service.createRecord('Organisation', { name: 'news' }),
    await service.createRecord('Organisation', { name: 'sports' }),
  ];
});
afterAll(() => service.close());

const policies: string[] = [];
afterEach(async () => {
  for (const id of policies.splice(0)) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
});

/** Sets the rules of the user. */
async function rule(...rules: readonly object[]): Promise<void> {
  const policyId = await service.createPolicy({ rules, userId: mia.id });
  policies.push(policyId);
}

const MEMBER = {
  resource: 'Membership',
  as: 'm',
  on: { userId: '${user.id}', organisationId: '${resource.organisationId}' },
};
const isLevel = (...levels: readonly string[]) => ({ field: 'm.level', operator: 'in', value: levels });
/** A condition that is true for every document. Lists count related records for each row if `where` reads the row. */
const READS_RECORD = { field: 'resource.title', operator: 'exists', value: true };
const when = (conditions: readonly object[], effect = 'ALLOW') => ({ resource: 'Document', action: '*', effect, conditions });

const join = (organisationId: string, fields: object = { level: 'editor' }) =>
  service.createRecord('Membership', { userId: mia.id, organisationId, ...fields });
const leave = (id: string) => service.call('DELETE', `/api/Membership/${id}`, { token: admin.token });
const create = (title: string, fields: object = {}) => service.createRecord('Document', { title, ...fields });

/** Returns the titles that a list shows, which are those that reads one by one show. */
async function visible(...documents: readonly string[]): Promise<readonly string[]> {
  const { body } = await service.call('GET', '/api/Document?limit=100', { token: mia.token });
  const listed = (body as { data?: { id: string; title: string }[] }).data ?? [];
  const read: string[] = [];
  for (const id of documents) {
    const { status } = await service.call('GET', `/api/Document/${id}`, { token: mia.token });
    expect([200, 403]).toContain(status);
    if (status === 200) read.push(id);
  }
  const among = listed.filter(({ id }) => documents.includes(id));
  expect(among.map(({ id }) => id).toSorted()).toEqual(read.toSorted());
  return among.map(({ title }) => title).toSorted();
}

/** Reads a document as the user, and returns the explanation of the decision. */
async function explain(document: string): Promise<string> {
  const { headers } = await service.call('GET', `/api/Document/${document}`, { token: mia.token });
  return explainAgain(headers);
}

async function explainAgain(headers: Readonly<Record<string, unknown>>): Promise<string> {
  const { text } = await service.call('GET', `/admin/api/decisions/${headers['x-decision-id']}`, { token: admin.token });
  expect(text).not.toContain('"warnings"');
  return text;
}

describe('a condition on related records', () => {
  it('a condition on related records finds no integer for a fraction, or for a number that no integer field can store', async () => {
    const shares = [2, 0.5, 1e19, -1e300];
    const documents = await Promise.all(shares.map((share) => create(`share ${share}`, { share })));
    const membership = await join(news, { places: 2 });
    await rule(when([{ related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}', places: '${resource.share}' } } }]));
    expect(await visible(...documents)).toEqual(['share 2']);
    await leave(membership);
  });

  it('a membership allows the documents of its organisation, until it is deleted', async () => {
    await rule(when([{ related: { ...MEMBER, where: [isLevel('editor', 'owner')] } }]));
    const documents = [
      await create('news', { organisationId: news }),
      await create('sports', { organisationId: sports }),
      await create('none'),
    ];
    expect(await visible(...documents)).toEqual([]);
    const [first, second] = [await join(news), await join(sports, { level: 'reader' })];
    expect(await visible(...documents)).toEqual(['news']);
    await service.call('PUT', `/api/Membership/${second}`, { token: admin.token, body: { level: 'owner' } });
    expect(await visible(...documents)).toEqual(['news', 'sports']);
    await leave(first);
    expect(await visible(...documents)).toEqual(['sports']);
    await leave(second);
    expect(await visible(...documents)).toEqual([]);
  });

  it('a membership that the caller may not read allows like any other', async () => {
    await rule(when([{ related: MEMBER }]));
    const document = await create('news', { organisationId: news });
    const membership = await join(news);
    expect((await service.call('GET', `/api/Membership/${membership}`, { token: mia.token })).status).toBe(403);
    expect(await visible(document)).toEqual(['news']);
    await leave(membership);
  });

  it('a membership with an unknown level does not allow, and a DENY on it fires', async () => {
    const everything = when([{ field: 'resource.id', operator: 'exists', value: true }]);
    const document = await create('news', { organisationId: news });
    const membership = await join(news, {});
    await rule(when([{ related: { ...MEMBER, where: [isLevel('owner')] } }]));
    expect(await visible(document)).toEqual([]);
    await rule(everything, when([{ related: { ...MEMBER, where: [isLevel('owner')] } }], 'DENY'));
    expect(await visible(document)).toEqual([]);
    await leave(membership);
    expect(await visible(document)).toEqual(['news']);
  });

  it('a negated condition does not allow while a membership may meet it', async () => {
    const documents = [await create('news', { organisationId: news }), await create('none')];
    for (const more of [[], [READS_RECORD]]) {
      await rule(when([{ not: { related: { ...MEMBER, where: [isLevel('owner'), ...more] } } }]));
      expect(await visible(...documents)).toEqual(['news']);
      const membership = await join(news, {});
      expect(await visible(...documents)).toEqual([]);
      await service.call('PUT', `/api/Membership/${membership}`, { token: admin.token, body: { level: 'reader' } });
      expect(await visible(...documents)).toEqual(['news']);
      await leave(membership);
      for (const id of policies.splice(0)) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
    }
  });

  it('bounds count inclusively, and the record that is decided is not counted', async () => {
    const siblings = { resource: 'Document', as: 'd', on: { parentId: '${resource.parentId}' } };
    const parent = await create('parent');
    await rule(when([{ related: { ...siblings, atLeast: 1, atMost: 2 } }]));
    const documents: string[] = [];
    const add = async () => void documents.push(await create(`child ${documents.length}`, { parentId: parent }));
    await add();
    expect(await visible(...documents)).toEqual([]);
    expect(await explain(documents[0] ?? '')).toContain('"counts":{"true":0,"false":0,"unknown":0}');
    await add();
    expect(await visible(...documents)).toEqual(['child 0', 'child 1']);
    expect(await explain(documents[0] ?? '')).toContain('"counts":{"true":1,"false":0,"unknown":0}');
    await add();
    expect((await visible(...documents)).length).toBe(3);
    await add();
    expect(await visible(...documents)).toEqual([]);
  });

  it('the condition and the expression of the guide allow members by their level, until their membership has expired', async () => {
    const [condition = ''] = examples('policies', 'json').filter((block) => block.startsWith('{ "related"'));
    const expression = /^resource\.ownerId == user\.id \|\| (related\(.*\))$/m.exec(guide('policies'))?.[1];
    const documents = [await create('news', { organisationId: news }), await create('sports', { organisationId: sports })];
    const memberships = [
      await join(news, { level: 'owner', expiresAt: '2999-01-01T00:00:00.000Z' }),
      await join(sports, { level: 'editor', expiresAt: '2020-01-01T00:00:00.000Z' }),
    ];
    await rule(when([JSON.parse(condition) as object]));
    expect(await visible(...documents)).toEqual(['news']);
    for (const id of policies.splice(0)) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
    await rule(when([{ expression }]));
    expect(await visible(...documents)).toEqual(['news', 'sports']);
    for (const id of memberships) await leave(id);
    expect(await visible(...documents)).toEqual([]);
  });

  it('a related record may be required within another, and conditions reach through its references', async () => {
    await rule(
      when([
        {
          related: {
            resource: 'Document',
            as: 'parent',
            on: { id: '${resource.parentId}' },
            where: [
              { field: 'parent.organisationId.name', operator: 'eq', value: 'news' },
              { related: { ...MEMBER, on: { userId: '${user.id}', organisationId: '${parent.organisationId}' } } },
            ],
          },
        },
      ]),
    );
    const parents = [await create('news', { organisationId: news }), await create('sports', { organisationId: sports })];
    const children: string[] = [];
    for (const [index, parentId] of parents.entries()) children.push(await create(`child ${index}`, { parentId }));
    expect(await visible(...parents, ...children)).toEqual([]);
    const memberships = [await join(news), await join(sports)];
    expect(await visible(...parents, ...children)).toEqual(['child 0']);
    for (const id of memberships) await leave(id);
    expect(await visible(...parents, ...children)).toEqual([]);
  });

  it('a condition that SQL cannot express agrees in lists and in single reads', async () => {
    await rule(when([{ related: { ...MEMBER, where: [{ field: 'm.level', operator: 'matches', value: '^ed' }] } }]));
    const documents = [await create('news', { organisationId: news }), await create('sports', { organisationId: sports })];
    const memberships = [await join(news), await join(sports, { level: 'reader' })];
    expect(await visible(...documents)).toEqual(['news']);
    for (const id of memberships) await leave(id);
  });

  it.each([
    ['m.level', 'in', ['editor'], []],
    ['m.organisationId.name', 'matches', '^n', [expect.stringContaining('"matches" on "m.organisationId.name"')]],
  ])('the linter reports a where with %s %s %j if lists evaluate it in memory', async (field, operator, value, expected) => {
    const rules = [{ ...when([{ related: { ...MEMBER, where: [{ field, operator, value }] } }]), action: 'list' }];
    const { body } = await service.call('POST', '/admin/api/policies', {
      token: admin.token,
      body: { name: `${operator} in where`, type: 'CUSTOM', rules },
    });
    const { data, warnings = [] } = body as { data: { id: string }; warnings?: { code: string; detail: string }[] };
    policies.push(data.id);
    expect(warnings.filter(({ code }) => code === 'in-memory').map(({ detail }) => detail)).toEqual(expected);
  });

  it('a create and an update are decided for the proposed record', async () => {
    await rule(when([{ related: MEMBER }]));
    const membership = await join(news);
    const post = (organisationId: string) =>
      service.call('POST', '/api/Document', { token: mia.token, body: { title: 'new', organisationId } });
    expect([(await post(news)).status, (await post(sports)).status]).toEqual([201, 403]);
    const own = await create('own', { organisationId: news });
    const move = await service.call('PUT', `/api/Document/${own}`, { token: mia.token, body: { organisationId: sports } });
    expect(move.status).toBe(403);
    await leave(membership);
  });

  it('an import of more records than a quota allows is refused, and stores none', async () => {
    const siblings = { resource: 'Document', as: 'd', on: { parentId: '${resource.parentId}' } };
    const parent = await create('quota');
    await rule(when([{ related: { ...siblings, atMost: 1 } }]));
    const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ title: `row ${index}`, parentId: parent }));
    const send = (path: string, body: object) => service.call('POST', path, { token: mia.token, body });
    const inBatch = (count: number) => ({ requests: [{ resource: 'Document', action: 'import', data: { data: rows(count) } }] });
    const imports: readonly ((count: number) => ReturnType<typeof send>)[] = [
      (count) => send('/api/Document/import', { data: rows(count) }),
      (count) => send('/api/Document/import', { data: rows(count), onError: 'stop' }),
      (count) => send('/api/batch', { ...inBatch(count), atomic: true }),
    ];
    for (const importRows of imports) {
      const { status, text } = await importRows(3);
      expect([status, text]).toEqual([403, expect.stringContaining('ACCESS_DENIED')]);
    }
    const stored = () => service.call('GET', `/api/Document?where[parentId]=${parent}`, { token: admin.token });
    expect((await stored()).body).toMatchObject({ data: [] });
    expect((await imports[0]?.(2))?.status).toBe(201);
    expect((await send('/api/Document/import', { data: rows(1) })).status).toBe(403);
    expect((await stored()).body).toMatchObject({ data: [{}, {}] });
  });

  it('a condition with more related records than the limit is unknown, and the explanation names the limit', async () => {
    const siblings = { resource: 'Document', as: 'd', on: { parentId: '${resource.parentId}' } };
    const parent = await create('parent');
    await rule(when([{ related: siblings }]));
    const documents: string[] = [];
    for (let count = 0; count < 6; count++) documents.push(await create(`child ${count}`, { parentId: parent }));
    expect((await visible(...documents)).length).toBe(6);
    documents.push(await create('child 6', { parentId: parent }));
    expect(await visible(...documents)).toEqual([]);
    expect(await explain(documents[0] ?? '')).toContain('"answer":"unknown","moreThan":5');
    const resource = { name: 'Document', id: documents[0] };
    const body = { user: { id: mia.id }, resource, action: 'read' };
    const { text } = await service.call('POST', '/admin/api/policies/test-access', { token: admin.token, body });
    expect(text).toContain('"answer":"unknown","moreThan":5');
  });

  it('an explanation shows the related record that decided, also after it has changed', async () => {
    await rule(when([{ related: { ...MEMBER, where: [isLevel('owner')] } }]));
    const document = await create('news', { organisationId: news });
    const membership = await join(news, { level: 'reader' });
    const denied = await service.call('GET', `/api/Document/${document}`, { token: mia.token });
    await leave(membership);
    const text = await explainAgain(denied.headers);
    expect(text).toContain('"counts":{"true":0,"false":1,"unknown":0}');
    expect(text).toContain(`"records":[{"id":"${membership}","answer":"false"`);
    expect(text).toContain('"actual":"reader"');
  });
});
