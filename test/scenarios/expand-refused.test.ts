/** Names that cannot be expanded, and the limits on expanded records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDefinition } from '../../src/resources/index.ts';
import { createChain } from '../chain.ts';
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
  // These tests build on each other.
  const it = createChain();
  const refused = (expand: string, code: string): Scenario => ({
    name: `refuses to expand "${expand}"`,
    as: 'asa',
    send: `GET /api/Article/{one}?expand=${expand}`,
    status: 400,
    body_has: { code: 'REQUEST_FIELD', errors: [{ path: `expand.${expand.split(':')[0]}`, code }] },
    entries: [{ ...read('Article', 'one'), outcome: 'REQUEST_FIELD' }],
  });
  const malformed = (expand: string, code: string): Scenario => ({
    ...refused(expand, code),
    body_has: { code: 'REQUEST_PARAMETER', errors: [{ path: 'expand', code }] },
    entries: [],
  });
  checkScenarios(
    () => stage,
    [
      given([may('*', '*')]),
      refused('authrId', 'field'),
      refused('sourceId', 'field'),
      refused('__proto__', 'field'),
      refused('title', 'field'),
      refused('createdBy', 'field'),
      refused('x:Coment.articleId', 'field'),
      refused('x:_Policy.createdBy', 'field'),
      refused('x:_UserPolicy.policyId', 'field'),
      refused('x:constructor.name', 'field'),
      refused('x:Comment.articlId', 'field'),
      refused('x:Comment.aboutId', 'field'),
      refused('x:Comment.authorId', 'field'),
      refused('x:Team.label', 'field'),
      refused('x:User.teamId', 'field'),
      refused('constructor:Comment.articleId', 'field'),
      refused('__proto__:Comment.articleId', 'field'),
      malformed('authorId.teamId', 'type'),
      malformed('authorId,authorId', 'duplicate'),
      malformed('authorId,authorId:Comment.articleId', 'duplicate'),
      malformed('a,b,c,d,e,f', 'tooMany'),
      malformed('x:Comment.articleId(101)', 'range'),
      malformed('x:Comment.articleId(0)', 'type'),
      malformed('', 'type'),
    ],
    it,
  );
  checkScenarios(
    () => stage,
    [
      {
        name: 'reports a name that cannot be expanded together with all other mistakes',
        as: 'asa',
        send: 'GET /api/Article?fields=titel&expand=authrId,x:Nothing.at',
        status: 400,
        body_has: { errors: [{ path: 'fields.titel' }, { path: 'expand.authrId' }, { path: 'expand.x' }] },
        entries: [{ ...listed, outcome: 'REQUEST_FIELD' }],
      },
      { ...given([]), name: 'takes all rules from the caller' },
      {
        name: 'does not report a name that cannot be expanded to a caller who is denied',
        as: 'asa',
        send: 'GET /api/Article/{one}?expand=authrId',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [denied('Article', 'one')],
      },
      {
        name: 'refuses expand in an export, which has no such parameter',
        as: 'admin',
        send: 'POST /api/Article/export',
        body: { expand: ['authorId'] },
        status: 400,
        body_has: { code: 'REQUEST_MALFORMED' },
      },
    ],
    it,
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
  ])('limits the records to expand before they are read: %s with limit %i', async (expand, limit, most) => {
    const { token } = await service.admin();
    const reply = await service.call('GET', `/api/Case?limit=${limit}&expand=${expand}`, { token });
    expect([reply.status, reply.at('code'), reply.at('errors.0.path')]).toEqual([400, 'REQUEST_PARAMETER', 'expand']);
    expect(reply.at('detail')).toContain(` ${most};`);
    const [newest] = await service.decisions('limit=1');
    expect(newest).toMatchObject({ action: 'list', allowed: true, outcome: 'REQUEST_PARAMETER' });
  });

  it.each(['ownerId', 'all:Case.previousId(1)', 'readerIds'])('expands as many records as the limit allows: %s', async (expand) => {
    const reply = await service.call('GET', `/api/Case?limit=6&expand=${expand}`, { token: (await service.admin()).token });
    expect([reply.status, reply.at('count')]).toEqual([200, 3]);
  });
});

describe('the search for referencing records', () => {
  it('the requests of a batch share the time to search for referencing records', async () => {
    const service = await startService({ definitions: { 'Case.yaml': CASE }, settings: { scanMilliseconds: 0 } });
    try {
      const { token } = await service.admin();
      const id = await service.createRecord('Case', {});
      const requests = Array.from({ length: 3 }, () => ({ resource: 'Case', action: 'read', id, expand: ['all:Case.previousId'] }));
      const reply = await service.call('POST', '/api/batch', { token, body: { requests } });
      expect((reply.at('data') as readonly { readonly status: number }[]).map(({ status }) => status)).toEqual([200, 400, 400]);
      expect([reply.at('data.1.error.code'), reply.at('data.1.error.detail')]).toEqual([
        'REQUEST_BUDGET',
        expect.stringContaining('0 ms (scanMilliseconds)'),
      ]);
      const [newest] = await service.decisions('limit=1');
      expect(newest).toMatchObject({ action: 'read', allowed: true, outcome: 'REQUEST_BUDGET' });
    } finally {
      await service.close();
    }
  });
});

describe('a field', () => {
  it('refuses a field named expand, and accepts its renaming', () => {
    const define = (fields: object): readonly string[] =>
      parseDefinition({ name: 'Case', fields: fields as Record<string, never> }).mistakes.map(({ path }) => path.join('.'));
    expect(define({ expand: { type: 'string' } })).toEqual(['fields.expand']);
    expect(define({ expansion: { type: 'string', renamedFrom: 'expand' } })).toEqual([]);
  });
});
