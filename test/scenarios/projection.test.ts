/** `fields` selects the members of records in a response. It never adds a field, and changes nothing else. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { given, may, read, shows, startReaders } from './expand-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;
beforeAll(async () => {
  context = await startReaders();
});
afterAll(() => context.service.close());

const listed = { action: 'list', resource: 'Article', allowed: true };
const exported = { ...listed, action: 'export' };

describe('fields', () => {
  checkScenarios(
    () => context,
    [
      given([may('*', 'Article')]),
      shows(
        'fields select members of one record',
        'GET /api/Article/{one}?fields=title,authorId',
        { id: '{one}', title: 'one', authorId: '{sam}' },
        [read('Article', 'one')],
        {
          body_lacks: ['data.version', 'data.editorId', 'data.createdAt', 'data.reviewerIds', 'data.expand'],
          headers_have: { etag: '"1"' },
        },
      ),
      shows('fields always include the id', 'GET /api/Article/{one}?fields=id', { id: '{one}' }, [read('Article', 'one')], {
        body_lacks: ['data.title'],
      }),
      shows('fields include null values', 'GET /api/Article/{three}?fields=authorId', { authorId: null }, [read('Article', 'three')]),
      shows(
        'fields select members of a list',
        'GET /api/Article?fields=title&sort=-createdAt&where[authorId]={sam}',
        [{ id: '{one}', title: 'one' }],
        [listed],
        {
          body_lacks: ['data.0.authorId', 'data.0.createdAt'],
        },
      ),
      shows('fields select members of an export', 'POST /api/Article/export', [{ title: 'one' }], [exported], {
        body: { where: { title: 'one' }, fields: 'title,version' },
        body_lacks: ['data.0.authorId'],
      }),
      shows('fields are accepted by the action route', 'POST /api/Article/read', { title: 'one' }, [read('Article', 'one')], {
        body: { id: '{one}', fields: ['title'] },
        body_lacks: ['data.authorId'],
      }),
      shows('fields are accepted in a batch', 'POST /api/batch', [{ data: [{ title: 'one' }] }], [listed], {
        body: { requests: [{ resource: 'Article', action: 'list', where: { title: 'one' }, fields: ['title'] }] },
        body_lacks: ['data.0.data.0.authorId'],
      }),
    ],
    it,
  );

  it('fields are shown in the order of the definition, not of the query', async () => {
    const reply = await context.service.call('GET', `/api/Article/${context.kept.get('one')}?fields=reviewerIds,title,createdAt`, {
      token: context.tokens.get('asa'),
    });
    expect(Object.keys(reply.at('data') as object)).toEqual(['id', 'createdAt', 'title', 'reviewerIds']);
  });

  it('fields may change between the pages of a cursor', async () => {
    const token = context.tokens.get('asa');
    const first = await context.service.call('GET', '/api/Article?limit=2&fields=title', { token });
    const rest = await context.service.call('GET', `/api/Article?limit=2&expand=parentId&cursor=${first.at('nextCursor')}`, { token });
    expect([rest.status, rest.at('data.0.title'), rest.at('count')]).toEqual([200, 'three', 1]);
  });
});

describe('refused fields', () => {
  const refused = (fields: string, path: string): Scenario => ({
    name: `refuses the parameter fields=${fields}`,
    as: 'asa',
    send: `GET /api/Article?fields=${fields}`,
    status: 400,
    body_has: { code: 'REQUEST_FIELD', errors: [{ path, code: 'field' }] },
    entries: [{ ...listed, outcome: 'REQUEST_FIELD' }],
  });
  const malformed = (fields: string, code: string): Scenario => ({
    ...refused(fields, 'fields'),
    body_has: { code: 'REQUEST_PARAMETER', errors: [{ path: 'fields', code }] },
    entries: [],
  });
  const long = 'x'.repeat(70);
  checkScenarios(
    () => context,
    [
      refused('titel', 'fields.titel'),
      refused('sourceId', 'fields.sourceId'),
      refused('__proto__', 'fields.__proto__'),
      refused('authorId.department', 'fields.authorId.department'),
      refused('expand', 'fields.expand'),
      refused(long, `fields.${long.slice(0, 64)}`),
      malformed('title,title', 'duplicate'),
      malformed('title,', 'type'),
      malformed('', 'type'),
      malformed('%20title', 'type'),
    ],
    it,
  );
  const no = (send: string, body: object | undefined, code: string): Scenario => ({
    name: `refuses a selection of fields in ${send} ${JSON.stringify(body) ?? ''}`,
    as: 'asa',
    send,
    ...(body !== undefined && { body }),
    status: 400,
    body_has: { code },
  });
  checkScenarios(
    () => context,
    [
      no('POST /api/Article?fields=title', { title: 'x' }, 'REQUEST_PARAMETER'),
      no('PUT /api/Article/{one}?fields=title', { title: 'x' }, 'REQUEST_PARAMETER'),
      no('DELETE /api/Article/{one}?fields=title', undefined, 'REQUEST_PARAMETER'),
      no('GET /api/Article/schema?fields=title', undefined, 'REQUEST_PARAMETER'),
      no('POST /api/Article/create', { data: { title: 'x' }, fields: ['title'] }, 'REQUEST_MALFORMED'),
      no('POST /api/Article/read', { id: '{one}', fields: [] }, 'REQUEST_MALFORMED'),
      no('POST /api/Article/read', { id: '{one}', fields: [7] }, 'REQUEST_MALFORMED'),
      no('POST /api/Article/read', { id: '{one}', expand: { authorId: true } }, 'REQUEST_MALFORMED'),
    ],
    it,
  );
});
