/** Rules and filters with a value that a field cannot have: they would never fire, or the list would always be empty. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openTables } from '../../src/project/index.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

const ticket = (states: string): string => `
name: Ticket
fields:
  state: { type: enum, values: [${states}], default: open, index: true }
  labels: { type: list, of: { type: enum, values: [bug, feature] } }
  title: { type: string }
  extra: { type: json }
  sender: { type: email }
  copies: { type: list, of: email }
  owner: { type: reference, to: User }
`;
const USER = `
name: User
fields:
  department: { type: string }
  teams: { type: list, of: string }
`;

let service: RunningService;
beforeAll(async () => {
  service = await startService({ definitions: { 'Ticket.yaml': ticket('open, closed, archived'), 'User.yaml': USER } });
});
afterAll(() => service.close());

const asAdmin = async (method: string, path: string, body?: object): Promise<Reply> =>
  service.call(method, path, { token: (await service.admin()).token, body });

type Condition = Readonly<Record<string, unknown>>;
const denyWhere = (...conditions: Condition[]) => ({ resource: 'Ticket', action: '*', effect: 'DENY', priority: 900, conditions });
const policyOf = (name: string, rule: object) => ({ name, type: 'CUSTOM', rules: [rule] });
let count = 0;

const UPPER_ID = '018F4E6A-1C2B-7D3E-8F40-5A6B7C8D9E0F';

/** A condition with a mistake, and the expected detail of the error. */
const MISTAKES: readonly (readonly [Condition, string])[] = [
  [{ field: 'resource.state', operator: 'eq', value: 'Open' }, 'did you mean "open"?'],
  [{ field: 'resource.state', operator: 'in', value: ['open', 'closd'] }, 'item 1: "closd" is no value of resource.state'],
  [{ field: 'resource.state', operator: 'startsWith', value: 'Arch' }, 'no value of resource.state starts with "Arch"'],
  [{ field: 'resource.labels', operator: 'hasAny', value: ['Bug'] }, 'did you mean "bug"?'],
  [
    { field: 'environment.hour', operator: 'between', value: [22, 6] },
    'use "timeOfDayBetween" on environment.timestamp with ["22:00", "07:00"]',
  ],
  [{ field: 'environment.hour', operator: 'eq', value: 25 }, 'did you mean 23?'],
  [{ field: 'environment.dayOfWeek', operator: 'in', value: ['Sat', 'Sun'] }, 'did you mean 6?'],
  [{ field: 'user.role', operator: 'eq', value: 'editr' }, 'did you mean "editor"?'],
  [{ field: 'request.action', operator: 'eq', value: 'lst' }, 'did you mean "list"?'],
  [{ expression: 'resource.state == "Open"' }, 'did you mean "open"?'],
  [{ field: 'resource.sender', operator: 'eq', value: 'Ada@X.org' }, 'did you mean "ada@x.org"?'],
  [{ field: 'resource.sender', operator: 'in', value: ['a@x.org', 'B@x.org'] }, 'item 1: "B@x.org" is no value of resource.sender'],
  [{ field: 'resource.sender', operator: 'endsWith', value: '@X.org' }, 'no value of resource.sender ends with "@X.org"'],
  [{ field: 'resource.copies', operator: 'has', value: 'Ada@X.org' }, 'did you mean "ada@x.org"?'],
  [{ field: 'resource.owner', operator: 'ne', value: UPPER_ID }, `did you mean "${UPPER_ID.toLowerCase()}"?`],
  [{ field: 'resource.createdBy.email', operator: 'eq', value: 'Ada@X.org' }, 'did you mean "ada@x.org"?'],
  [{ expression: 'resource.sender == "Ada@X.org"' }, 'did you mean "ada@x.org"?'],
  [{ not: { anyOf: [{ expression: 'user.role in ["admin", "editr"]' }] } }, 'did you mean "editor"?'],
  [{ field: 'user.id', operator: '==', value: 'x' }, 'did you mean "eq"?'],
  [{ field: 'user.id', operator: 'equals', value: 'x' }, 'did you mean "eq"?'],
  [{ field: 'user.id', operator: '_eq', value: 'x' }, 'did you mean "eq"?'],
  [{ field: 'resource.labels', operator: 'contains_any', value: ['bug'] }, 'did you mean "hasAny"?'],
];

describe('a rule that can never fire', () => {
  it.each(MISTAKES)(
    'names the mistake of a rule that can never fire when its policy is created, changed and imported: %j',
    async (condition, detail) => {
      const rule = denyWhere(condition);
      const created = await asAdmin('POST', '/admin/api/policies', policyOf(`new ${count++}`, rule));
      const good = await asAdmin('POST', '/admin/api/policies', policyOf(`good ${count++}`, denyWhere()));
      const changed = await asAdmin('PUT', `/admin/api/policies/${good.at('data.id')}`, { rules: [rule] });
      const imported = await asAdmin('POST', '/admin/api/policies/import?dryRun=true', { policies: [policyOf(`new ${count++}`, rule)] });
      for (const reply of [created, changed, imported]) {
        expect([reply.status, reply.at('code')], reply.text).toEqual([422, 'POLICY_INVALID']);
        expect(reply.at('errors.0.detail')).toContain(detail);
        expect(reply.at('errors.0.path')).toMatch(/rules\.0\.conditions\.0/);
      }
    },
  );
});

describe('a policy that is probably wrong', () => {
  const firstWarning = async (condition: Condition): Promise<readonly unknown[]> => {
    const reply = await asAdmin('POST', '/admin/api/policies', policyOf(`warned ${count++}`, denyWhere(condition)));
    expect(reply.status, reply.text).toBe(201);
    return [reply.at('warnings.0.code'), reply.at('warnings.0.detail')];
  };

  it('names the probable user attribute in the first finding about an unknown attribute', async () => {
    expect(await firstWarning({ field: 'user.departmnt', operator: 'eq', value: 'law' })).toEqual([
      'attribute-never-set',
      expect.stringContaining('did you mean "department"?'),
    ]);
  });

  it('names the stored form of an email in a finding about a value that users of this service cannot have', async () => {
    expect(await firstWarning({ field: 'user.email', operator: 'eq', value: 'Ada@X.org' })).toEqual([
      'never-equal',
      expect.stringContaining('did you mean "ada@x.org"?'),
    ]);
  });

  it.each([
    { field: 'resource.sender', operator: 'iendsWith', value: '@X.org' },
    { field: 'resource.sender', operator: 'matches', value: '[A-Z]@x.org$' },
    { field: 'resource.title', operator: 'eq', value: 'Ada@X.org' },
  ])('accepts a text in another case that the field can match: %j', async (condition) => {
    const reply = await asAdmin('POST', '/admin/api/policies', policyOf(`cased ${count++}`, denyWhere(condition)));
    expect(reply.status, reply.text).toBe(201);
  });

  it.each(['$user.id', '{{user.id}}', '@request.auth.id'])('names the syntax of references in a finding about %s', async (value) => {
    expect(await firstWarning({ field: 'resource.title', operator: 'ne', value })).toEqual([
      'foreign-reference',
      expect.stringContaining(`a reference is written "\${user.id}"`),
    ]);
  });

  const IN_MEMORY: readonly (readonly [Condition, boolean])[] = [
    [{ field: 'resource.extra.teams', operator: 'hasAny', value: `\${user.teams}` }, true],
    [{ field: 'resource.extra.teams', operator: 'hasAny', value: ['a'] }, true],
    [{ field: 'resource.extra.team', operator: 'eq', value: `\${user.department}` }, false],
    [{ field: 'resource.title', operator: 'eq', value: `\${user.department}` }, false],
    [{ field: 'resource.title', operator: 'matches', value: `\${user.department}` }, true],
    [{ field: 'resource.labels', operator: 'hasAny', value: `\${user.teams}` }, false],
    [{ field: 'user.teams', operator: 'has', value: `\${resource.title}` }, false],
    [{ field: 'resource.title', operator: 'startsWith', value: `\${user.email}` }, false],
  ];

  it.each(IN_MEMORY)('returns a finding for a condition that lists evaluate in memory: %j, %s', async (condition, isInMemory) => {
    const user = await service.user({ department: 'law', teams: ['a'] });
    const rule = { resource: 'Ticket', action: 'list', conditions: [condition] };
    const reply = await asAdmin('POST', '/admin/api/policies', policyOf(`lists ${count++}`, rule));
    const codes = ((reply.at('warnings') ?? []) as { code: string }[]).map(({ code }) => code);
    expect(codes.includes('in-memory'), reply.text).toBe(isInMemory);
    expect((await asAdmin('POST', `/admin/api/policies/${reply.at('data.id')}/assign/user/${user.id}`, {})).status).toBe(201);
    // A total requires a filter that the database evaluates completely.
    const listed = await service.call('GET', '/api/Ticket?total=true', { token: user.token });
    expect([listed.status, listed.at('total') === undefined]).toEqual([200, isInMemory]);
  });
});

describe('a filter by an unknown enum value', () => {
  it.each([
    'where[state]=Open',
    'where[state][ne]=void',
    'where[state][in]=open,closd',
    'where[state][nin]=closd',
    'where[state][gte]=b',
    'where[labels][has]=Bug',
    'where[labels][hasAny]=bug,x',
  ])('refuses a filter by an unknown enum value with 400: %s', async (query) => {
    const reply = await asAdmin('GET', `/api/Ticket?${query}`);
    expect([reply.status, reply.at('code')], reply.text).toEqual([400, 'REQUEST_PARAMETER']);
    expect(reply.at('errors.0.path')).toMatch(/^where\.(state|labels)\./);
  });

  it.each(['list', 'export'])(
    'refuses an unknown enum value with 400 in the body of %s, and in the filter of createIfNotExists',
    async (action) => {
      expect((await asAdmin('POST', `/api/Ticket/${action}`, { where: { state: 'Open' } })).status).toBe(400);
      expect((await asAdmin('POST', '/api/Ticket/createIfNotExists', { filter: { state: 'Open' }, data: {} })).status).toBe(400);
    },
  );

  it.each(['where[state]=open', 'where[state][contains]=x', 'where[state][in]=', 'where[labels][empty]=true'])(
    'answers a filter on an enum field that may match: %s',
    async (query) => {
      expect((await asAdmin('GET', `/api/Ticket?${query}`)).status).toBe(200);
    },
  );

  it('names the operator here in the error of a filter with an operator of another product', async () => {
    expect((await asAdmin('GET', '/api/Ticket?where[state][_eq]=open')).at('errors.0.detail')).toContain('did you mean "eq"?');
  });
});

describe('an enum value that is removed later', () => {
  it('an enum value that is removed later leaves the policy in force, and the other rules can be changed', async () => {
    const user = await service.user();
    await service.createPolicy({ role: 'user', rules: [{ resource: 'Ticket', action: '*' }] });
    const archived = denyWhere({ field: 'resource.state', operator: 'eq', value: 'archived' });
    const id = await service.createPolicy({ role: 'user', ...policyOf('archived tickets', archived) });
    await service.createRecord('Ticket', { title: 'one' });
    const listed = () => service.call('GET', '/api/Ticket', { token: user.token });
    expect((await listed()).at('count')).toBe(1);

    const project = join(service.dataFolder, '..', 'project');
    writeFileSync(join(project, 'resources', 'Ticket.yaml'), ticket('open, closed'));
    const tables = await openTables(parseConfig({ flags: { project, database: service.database }, env: {} }), { log: () => undefined });
    expect((await tables.apply({})).plan.held).toEqual([]);
    await tables.close();

    expect((await asAdmin('POST', '/admin/api/policies', policyOf('the same again', archived))).status).toBe(422);
    expect((await listed()).at('count')).toBe(1);
    const stored = (await asAdmin('GET', `/admin/api/policies/${id}`)).at('data.rules') as readonly object[];
    const more = [...stored, denyWhere({ field: 'resource.state', operator: 'eq', value: 'closed' })];
    expect((await asAdmin('PUT', `/admin/api/policies/${id}`, { name: 'archived or closed' })).status).toBe(200);
    const changed = await asAdmin('PUT', `/admin/api/policies/${id}`, { rules: more });
    expect([changed.status, changed.at('warnings.0.code'), changed.at('warnings.0.path')], changed.text).toEqual([
      200,
      'never-equal',
      'rules.0.conditions.0.value',
    ]);
    expect((await listed()).at('count')).toBe(1);
  });
});
