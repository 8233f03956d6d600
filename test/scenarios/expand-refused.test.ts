/** Names that cannot be expanded, and the limits on expanded records. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseDefinition } from '../../src/resources/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { denied, given, may, read, startReaders } from './expand-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

const CASE = `
name: Case
fields:
  ownerId:    { type: reference, to: User }
  previousId: { type: reference, to: Case }
  readerIds:  { type: list, of: { type: reference, to: User } }
`;

let stage: ScenarioContext;
beforeAll(async () => {
  stage = await startReaders();
});
afterAll(() => stage.service.close());

const listed = { action: 'list', resource: 'Article', allowed: true };

describe('a name that cannot be expanded', () => {
  const refused = (expand: string, detail: string): Scenario => ({
    name: `is rejected: expand=${expand}`,
    as: 'asa',
    send: `GET /api/Article/{one}?expand=${expand}`,
    status: 400,
    body_has: { code: 'REQUEST_FIELD', detail: `expand.${expand.split(':')[0]}: ${detail}` },
    entries: [{ ...read('Article', 'one'), outcome: 'REQUEST_FIELD' }],
  });
  const malformed = (expand: string, detail: string): Scenario => ({
    ...refused(expand, detail),
    body_has: { code: 'REQUEST_PARAMETER', detail: `expand: ${detail}` },
    entries: [],
  });
  const shape = 'expected references such as authorId, or comments:Comment.articleId(20) for referencing records, given';
  const letters = 'expected a name of 1 to 63 letters, digits and underscores that begins with a letter, given "__proto__"';
  checkScenarios(
    () => stage,
    [
      given([may('*', '*')]),
      refused('authrId', 'Article has no field "authrId" to expand (did you mean "authorId"?)'),
      refused('sourceId', 'Article has no field "sourceId" to expand (known: authorId, editorId, parentId, reviewerIds)'),
      refused('__proto__', 'Article has no field "__proto__" to expand (known: authorId, editorId, parentId, reviewerIds)'),
      refused('title', 'expected a reference to expand, given "title", which is a string'),
      refused('createdBy', 'expected a reference to expand, given "createdBy", which is a string'),
      refused('x:Coment.articleId', 'no field "articleId" of a resource "Coment" refers to one Article'),
      refused('x:_Policy.createdBy', 'no field "createdBy" of a resource "_Policy" refers to one Article'),
      refused('x:_UserPolicy.policyId', 'no field "policyId" of a resource "_UserPolicy" refers to one Article'),
      refused('x:constructor.name', 'no field "name" of a resource "constructor" refers to one Article'),
      refused('x:Comment.articlId', 'no field "articlId" of a resource "Comment" refers to one Article'),
      refused('x:Comment.aboutId', 'no field "aboutId" of a resource "Comment" refers to one Article'),
      refused('x:Comment.authorId', 'no field "authorId" of a resource "Comment" refers to one Article'),
      refused('x:Team.label', 'no field "label" of a resource "Team" refers to one Article'),
      refused('x:User.teamId', 'no field "teamId" of a resource "User" refers to one Article'),
      refused('constructor:Comment.articleId', 'expected another name: "constructor" is reserved'),
      refused('__proto__:Comment.articleId', letters),
      malformed('authorId.teamId', `${shape} "authorId.teamId"`),
      malformed('authorId,authorId', 'expected each name once, "authorId" was given twice'),
      malformed('authorId,authorId:Comment.articleId', 'expected each name once, "authorId" was given twice'),
      malformed('a,b,c,d,e,f', 'expected at most 5 names, more were given'),
      malformed('x:Comment.articleId(101)', 'expected at most 100 records under "x", given 101'),
      malformed('x:Comment.articleId(0)', `${shape} "x:Comment.articleId(0)"`),
      malformed('', `${shape} ""`),
    ],
  );
  checkScenarios(
    () => stage,
    [
      {
        name: 'is reported together with all other mistakes',
        as: 'asa',
        send: 'GET /api/Article?fields=titel&expand=authrId,x:Nothing.at',
        status: 400,
        body_has: { errors: [{ path: 'fields.titel' }, { path: 'expand.authrId' }, { path: 'expand.x' }] },
        entries: [{ ...listed, outcome: 'REQUEST_FIELD' }],
      },
      given([]),
      {
        name: 'is not reported to a caller who is denied',
        as: 'asa',
        send: 'GET /api/Article/{one}?expand=authrId',
        status: 403,
        body_has: { detail: 'no rule matched' },
        entries: [denied('Article', 'one')],
      },
      {
        name: 'is not reported by export, which has no parameter expand',
        as: 'admin',
        send: 'POST /api/Article/export',
        body: { expand: ['authorId'] },
        status: 400,
        body_has: { code: 'REQUEST_MALFORMED' },
      },
    ],
  );
});

describe('records to expand', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({ definitions: { 'Case.yaml': CASE }, settings: { expandMax: 6 } });
    const ids = [(await service.admin()).id, (await service.user()).id];
    for (let n = 0; n < 3; n++) await service.createRecord('Case', { ownerId: ids[0], readerIds: ids });
  });
  afterAll(() => service.close());

  it.each<[expand: string, limit: number, most: number]>([
    ['ownerId', 7, 7],
    ['all:Case.previousId(4)', 2, 8],
    ['ownerId,all:Case.previousId(2)', 3, 9],
    ['ownerId,readerIds', 3, 9],
  ])('are limited before they are read: %s with limit %i', async (expand, limit, most) => {
    const { token } = await service.admin();
    const reply = await service.call('GET', `/api/Case?limit=${limit}&expand=${expand}`, { token });
    const detail = `expand: expected at most 6 records to expand, given up to ${most}; ask for a smaller limit, or for fewer names`;
    expect([reply.status, reply.at('code'), reply.at('detail')]).toEqual([400, 'REQUEST_PARAMETER', detail]);
    const [newest] = await service.decisions('limit=1');
    expect(newest).toMatchObject({ action: 'list', allowed: true, outcome: 'REQUEST_PARAMETER' });
  });

  it.each(['ownerId', 'all:Case.previousId(1)', 'readerIds'])('are accepted up to the limit: %s', async (expand) => {
    const reply = await service.call('GET', `/api/Case?limit=6&expand=${expand}`, { token: (await service.admin()).token });
    expect([reply.status, reply.at('count')]).toEqual([200, 3]);
  });
});

describe('the search for referencing records', () => {
  afterEach(() => vi.restoreAllMocks());

  it('has one time limit for all requests of a batch', async () => {
    const { service, kept } = stage;
    const [token, id] = [(await service.admin()).token, kept.get('one')];
    const requests = Array.from({ length: 4 }, () => ({ resource: 'Article', action: 'read', id, expand: ['all:Comment.articleId'] }));
    // Each reading of the clock is 600 ms after the one before.
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 600));
    const reply = await service.call('POST', '/api/batch', { token, body: { requests } });
    expect((reply.at('data') as readonly { readonly status: number }[]).map(({ status }) => status)).toEqual([200, 200, 400, 400]);
    expect(reply.at('data.2.error.detail')).toContain('expand: searching for referencing records takes too long');
  });
});

describe('a field', () => {
  it('cannot be named expand, and can be renamed from it', () => {
    const define = (fields: object): readonly string[] =>
      parseDefinition({ name: 'Case', fields: fields as Record<string, never> }).mistakes.map(({ detail }) => detail);
    expect(define({ expand: { type: 'string' } })).toEqual([expect.stringContaining('expected another name')]);
    expect(define({ expansion: { type: 'string', renamedFrom: 'expand' } })).toEqual([]);
  });
});
