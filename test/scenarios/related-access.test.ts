/** Questions about access whose rules count related records: who can, permissions, access tests and previews. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Membership.yaml': `name: Membership
fields:
  userId: { type: reference, to: User, onDelete: cascade }
  team:   { type: string }
  level:  { type: enum, values: [reader, owner] }
indexes:
  - { fields: [userId, team] }
`,
  'Document.yaml': 'name: Document\nfields:\n  team: { type: string }\n',
};
const OWNER = {
  related: {
    resource: 'Membership',
    as: 'm',
    on: { userId: '${user.id}', team: '${resource.team}' },
    where: [{ field: 'm.level', operator: 'eq', value: 'owner' }],
  },
};

let service: RunningService;
let admin: TestUser;
let mia: TestUser;
let ben: TestUser;
let news: string;
let sports: string;
let policyId: string;
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  [admin, mia, ben] = [await service.admin(), await service.user(), await service.user()];
  news = await service.createRecord('Document', { team: 'news' });
  sports = await service.createRecord('Document', { team: 'sports' });
  await service.createRecord('Membership', { userId: mia.id, team: 'news', level: 'owner' });
  await service.createRecord('Membership', { userId: mia.id, team: 'sports', level: 'reader' });
  await service.createRecord('Membership', { userId: ben.id, team: 'news', level: 'reader' });
  policyId = await service.createPolicy({ role: 'user', rules: [{ resource: 'Document', action: '*', conditions: [OWNER] }] });
});
afterAll(() => service.close());

interface Row {
  readonly id?: string;
  readonly role?: string;
  readonly action?: string;
  readonly effect: string;
  readonly when?: string;
}
const ask = async (path: string, body: object): Promise<unknown> => {
  const reply = await service.call('POST', path, { token: admin.token, body });
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data');
};
const whoCan = async (body: object) => {
  const { roles, users } = (await ask('/admin/api/policies/who-can', { resource: 'Document', ...body })) as Record<string, readonly Row[]>;
  const byRole = roles?.filter(({ role }) => role === 'user').map(({ effect, when = '' }) => [effect, when.includes('Membership')]);
  return {
    byRole,
    users: users?.filter(({ id }) => id === mia.id || id === ben.id).map(({ id, effect }) => [id === mia.id ? 'mia' : 'ben', effect]),
  };
};

/** Previews a draft with another condition on memberships, for the reads of a document by Ben. */
const preview = (recordId: string, related: object): Promise<unknown> => {
  const conditions = [{ related: { ...OWNER.related, ...related } }];
  const draft = { policies: [{ id: policyId, rules: [{ resource: 'Document', action: '*', conditions }] }] };
  return ask('/admin/api/policies/preview', { draft, filter: { userId: ben.id, action: 'read', recordId } });
};

describe('related records in questions about access', () => {
  it('who-can leaves a condition open for a role, and decides it for each user and record', async () => {
    expect(await whoCan({ action: 'read', id: news })).toEqual({ byRole: [['conditional', true]], users: [['mia', 'allow']] });
    expect(await whoCan({ action: 'read', id: sports })).toEqual({ byRole: [['conditional', true]], users: [] });
  });

  it('who-can leaves a condition open without a record', async () => {
    const open = [['conditional', true]];
    expect(await whoCan({ action: 'read' })).toEqual({
      byRole: open,
      users: [
        ['mia', 'conditional'],
        ['ben', 'conditional'],
      ],
    });
    expect(await whoCan({ action: 'create' })).toEqual({
      byRole: open,
      users: [
        ['mia', 'conditional'],
        ['ben', 'conditional'],
      ],
    });
  });

  it('the permissions of a user are conditional, with the condition on the record', async () => {
    const effectsOf = async (user: TestUser, body: object) => {
      const cells = (await ask(`/admin/api/users/${user.id}/permissions`, { resources: ['Document'], ...body })) as readonly Row[];
      return Object.fromEntries(cells.map(({ action, effect, when = '' }) => [action, when.includes('Membership') ? effect : when]));
    };
    const conditional = { read: 'conditional', list: 'conditional', create: 'conditional' };
    expect([await effectsOf(mia, {}), await effectsOf(ben, {})]).toMatchObject([conditional, conditional]);
  });

  it('a caller who asks about records learns what reading them would show', async () => {
    const effectOf = async ({ token }: TestUser, id: string): Promise<unknown> => {
      const reply = await service.call('POST', '/auth/me/permissions', {
        token,
        body: { resource: 'Document', actions: ['read'], ids: [id] },
      });
      expect(reply.status, reply.text).toBe(200);
      return JSON.stringify(reply.at('data')).includes('"effect":"allow"');
    };
    expect([await effectOf(mia, news), await effectOf(mia, sports), await effectOf(ben, news)]).toEqual([true, false, false]);
  });

  it('a preview decides past requests by the related records that they have read', async () => {
    await service.call('GET', `/api/Document/${news}`, { token: ben.token });
    const isReader = { field: 'm.level', operator: 'eq', value: 'reader' };
    expect(await preview(news, { where: [isReader] })).toMatchObject({ examined: 1, denyToAllow: 1, unknown: 0 });
    // Related records that no past request has read are unknown.
    expect(await preview(news, { on: { userId: '${user.id}', team: 'sports' } })).toMatchObject({ examined: 1, unknown: 1 });
  });

  it('a preview is unknown if a value of a related record was not kept, but not if it was missing', async () => {
    await service.createRecord('Membership', { userId: ben.id, team: 'sports' });
    await service.call('GET', `/api/Document/${sports}`, { token: ben.token });
    const isMissing = { field: 'm.level', operator: 'exists', value: false };
    expect(await preview(sports, { where: [isMissing] })).toMatchObject({ examined: 1, denyToAllow: 1, unknown: 0 });
    const unknown = await preview(sports, { where: [{ field: 'm.createdBy', operator: 'exists', value: false }] });
    expect(unknown).toMatchObject({ examined: 1, unknown: 1, samples: [{ missing: ['related Membership'] }] });
  });
});

const MEMBER = { resource: 'Membership', as: 'm', on: OWNER.related.on };

describe('a policy that counts related records', () => {
  const within = (as: string, ...where: readonly object[]) => ({ related: { ...MEMBER, as, ...(where.length > 0 && { where }) } });
  const related = (resource: string, on: string, ...where: readonly string[]) => ({
    expression: `related(${[resource, 'm', on, ...where].join(', ')})`,
  });
  const WRONG: readonly (readonly [what: string, condition: object, path: string, code: string, fact: string])[] = [
    ['an unknown resource', { related: { ...MEMBER, resource: 'Membershp' } }, '.related.resource', 'value', 'did you mean "Membership"'],
    ['an unknown resource', related('Membershp', 'm.userId == user.id'), '.expression', 'expression', 'did you mean "Membership"'],
    [
      'an unknown linking field',
      { related: { ...MEMBER, on: { usrId: '${user.id}' } } },
      '.related.on.usrId',
      'value',
      'did you mean "userId"',
    ],
    ['an unknown linking field', related('Membership', 'm.usrId == user.id'), '.expression', 'expression', 'did you mean "userId"'],
    [
      'an unknown field',
      within('m', { field: 'm.levl', operator: 'eq', value: 'owner' }),
      '.related.where.0.field',
      'field',
      'did you mean "level"',
    ],
    [
      'an unknown field',
      related('Membership', 'm.userId == user.id', 'm.levl == "owner"'),
      '.expression',
      'expression',
      'did you mean "level"',
    ],
    ['three levels', within('a', within('b', within('c'))), '.related.where.0.related.where.0.related', 'tooDeep', 'at most 2'],
    [
      'three levels',
      {
        expression: ['a', 'b', 'c'].reduceRight(
          (inner, as) => `related(Membership, ${as}, ${as}.userId == user.id${inner && `, ${inner}`})`,
          '',
        ),
      },
      '.expression',
      'expression',
      'at most 2',
    ],
  ];
  it.each(WRONG)('a policy with %s in a related condition is refused (%j)', async (_, condition, path, code, fact) => {
    const body = { name: 'wrong', type: 'CUSTOM', rules: [{ resource: 'Document', action: 'read', conditions: [condition] }] };
    const reply = await service.call('POST', '/admin/api/policies', { token: admin.token, body });
    expect(reply.status).toBe(422);
    const issues = reply.at('errors') as readonly { readonly path: string; readonly code: string; readonly detail: string }[];
    expect(issues.map((issue) => [issue.path, issue.code])).toEqual([[`rules.0.conditions.0${path}`, code]]);
    expect(issues[0]?.detail).toContain(fact);
  });

  it.each<readonly [what: string, condition: object]>([
    ['condition', { related: { ...MEMBER, on: { level: 'owner' } } }],
    ['expression', related('Membership', 'm.level == "owner"')],
  ])('a policy whose %s has no index is accepted, with a finding that names the index', async (_, condition) => {
    const id = await service.createPolicy({ rules: [{ resource: 'Document', action: 'read', conditions: [condition] }] });
    const { text } = await service.call('GET', `/admin/api/policies-advice?policyId=${id}`, { token: admin.token });
    expect(text).toContain('"code":"related-index"');
    expect(text).toContain('add \\"indexes: [{ fields: [level] }]\\" to Membership');
  });
});
