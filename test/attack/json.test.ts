/** JSON with a duplicate name is refused: a proxy or an auditor could read the other value. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Attack, type AttackTarget, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const RULE = '{"resource":"Case","action":"read","effect":"DENY","effect":"ALLOW"}';
const POLICY = `{"name":"two effects","type":"CUSTOM","rules":[${RULE}]}`;
const twice =
  (path: string): NonNullable<Attack['also']> =>
  (reply) =>
    expect([reply.at('code'), reply.at('errors.0.path'), reply.at('errors.0.code')]).toEqual(['REQUEST_MALFORMED', path, 'duplicate']);
const text = (type: string): Required<Pick<Attack, 'headers'>> => ({ headers: { 'content-type': type } });

describe('a duplicate name', () => {
  checkAttacks(
    () => target,
    [
      { name: 'in a record', send: 'POST /api/Case', raw: '{"title":"a","title":"b"}', answers: 400, also: twice('title') },
      { name: 'that is escaped', send: 'POST /api/Case', raw: '{"title":"a","\\u0074itle":"b"}', answers: 400, also: twice('title') },
      {
        name: 'in a JSON field',
        send: 'POST /api/Case',
        raw: '{"title":"a","extra":[{"b":{"c":1,"c":2}}]}',
        answers: 400,
        also: twice('extra.0.b.c'),
      },
      {
        name: 'in a change',
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        raw: '{"isOpen":false,"isOpen":true}',
        answers: 400,
        also: twice('isOpen'),
      },
      {
        name: 'in a filter',
        send: 'POST /api/Case/list',
        raw: '{"where":{"title":"a","title":"b"}}',
        answers: 400,
        also: twice('where.title'),
      },
      {
        name: 'in a batch',
        send: 'POST /api/batch',
        raw: '{"requests":[{"resource":"Case","action":"list","action":"delete"}]}',
        answers: 400,
        also: twice('requests.0.action'),
      },
      { name: 'in a login', as: 'anon', send: 'POST /auth/login', raw: '{"email":"a","email":"b"}', answers: 400, also: twice('email') },
      { name: 'in a policy', as: 'admin', send: 'POST /admin/api/policies', raw: POLICY, answers: 400, also: twice('rules.0.effect') },
      {
        name: 'in an imported policy',
        as: 'admin',
        send: 'POST /admin/api/policies/import',
        raw: `{"policies":[${POLICY}]}`,
        answers: 400,
        also: twice('policies.0.rules.0.effect'),
      },
      {
        name: 'in a list of imported policies',
        as: 'admin',
        send: 'POST /admin/api/policies/import',
        raw: `[${POLICY}]`,
        answers: 400,
        also: twice('0.rules.0.effect'),
      },
      {
        name: 'in a line of imported policies',
        as: 'admin',
        send: 'POST /admin/api/policies/import',
        raw: `${POLICY}\n`,
        ...text('application/x-ndjson'),
        answers: 400,
        also: (reply) =>
          expect([reply.at('errors.0.row'), reply.at('errors.0.detail')]).toEqual([1, expect.stringContaining('rules.0.effect')]),
      },
      {
        name: 'in an access test',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        raw: '{"action":"read","action":"delete"}',
        answers: 400,
        also: twice('action'),
      },
      {
        name: 'in an import',
        send: 'POST /api/Case/import',
        raw: '{"data":[{"title":"a","title":"b"}]}',
        answers: 400,
        also: twice('data.0.title'),
      },
      {
        name: 'in an imported list',
        send: 'POST /api/Case/import',
        raw: '[{"title":"a","title":"b"}]',
        answers: 400,
        also: twice('title'),
      },
      {
        name: 'in an imported line',
        send: 'POST /api/Case/import',
        raw: '{"title":"a","title":"b"}',
        ...text('application/x-ndjson'),
        answers: 400,
        also: twice('title'),
      },
      {
        name: 'in JSON of an imported cell',
        as: 'eve',
        send: 'POST /api/Case/import',
        raw: 'title,extra\r\na,"{""b"":1,""b"":2}"\r\n',
        ...text('text/csv'),
        answers: 422,
        also: (reply) => expect([reply.at('errors.0.path'), reply.at('errors.0.code')]).toEqual(['extra', 'format']),
      },
      { name: 'in a list of a query', send: `GET /api/Case?where[title][in]=${encodeURIComponent('[{"a":1,"a":2}]')}`, answers: 400 },
    ] satisfies readonly Attack[],
    'refuses a duplicate name ',
  );

  it('changes nothing by a file with a duplicate name', async () => {
    const before = await target.countCases();
    for (const raw of ['[{"title":"a"},{"title":"a","title":"b"}]', '{"data":[{"title":"a"},{"title":"a","title":"b"}]}'])
      expect((await target.as('eve', 'POST', '/api/Case/import?atomic=true', { raw })).status).toBe(400);
    expect(await target.countCases()).toBe(before);
    expect((await target.as('admin', 'GET', '/admin/api/policies')).text).not.toContain('two effects');
  });
});
