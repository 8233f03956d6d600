/**
 * The program of `frozen.test.ts`: a service in a process with frozen prototypes. Sends values of every wrong type
 * to every route, as three callers, and prints a summary of the responses.
 */
import { startService } from '../harness.ts';

// After all modules are loaded: libraries define methods with inherited names, which frozen prototypes forbid.
for (const inherited of [Object, Array, Function, String, Number, Promise, Map]) Object.freeze(inherited.prototype);

const json = (text: string): unknown => JSON.parse(text);
const VALUES: readonly unknown[] = [
  ...[null, 5, true, 'x', '', '\u0000', '\ud800', [], [[]], {}, { length: 3 }, { toJSON: 1 }, { toString: 1 }],
  ...[
    '{"then":1}',
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"toString":null,"valueOf":null}',
  ].map(json),
];

type Route = readonly [send: string, body: (value: unknown) => unknown];

const CONDITION_MEMBERS = ['field', 'operator', 'value', 'context', 'ifExists'];
const RULE_MEMBERS = ['id', 'resource', 'action', 'effect', 'conditions', 'priority', 'description', 'isActive'];
const FIELDS = ['title', 'amount', 'price', 'tags', 'openedOn', 'isOpen', 'ownerId', 'extra', 'pin'];
const each = (names: readonly string[], value: unknown): object => Object.fromEntries(names.map((name) => [name, value]));
const policy = (rule: unknown): object => ({ name: 'odd', type: 'CUSTOM', rules: [rule] });

function routesOf({ policyId, userId, caseId }: Readonly<Record<'policyId' | 'userId' | 'caseId', string>>): readonly Route[] {
  const condition = (value: unknown): object => policy({ resource: 'Case', action: 'read', conditions: [value] });
  return [
    ['POST /api/Case', (value) => value],
    ['POST /api/Case', (value) => each(FIELDS, value)],
    [`PUT /api/Case/${caseId}`, (value) => each(FIELDS, value)],
    ['POST /api/Case/update', (value) => each(['id', 'data', 'ifMatch'], value)],
    ['POST /api/Case/list', (value) => each(['where', 'sort', 'limit', 'cursor', 'offset', 'total'], value)],
    ['POST /api/Case/list', (value) => ({ where: each(FIELDS, value) })],
    ['POST /api/Case/export', (value) => ({ where: each(FIELDS, { in: value, eq: value, matches: value, has: value }) })],
    ['POST /api/Case/import', (value) => ({ data: value })],
    ['POST /api/Case/import', (value) => ({ data: [value, each(FIELDS, value)] })],
    ['POST /api/Case/createIfNotExists', (value) => ({ filter: each(FIELDS, value), data: value })],
    ['POST /api/Case/updateIfExists', (value) => ({ filter: { title: value }, data: each(FIELDS, value) })],
    ['POST /api/batch', (value) => value],
    ['POST /api/batch', (value) => ({ requests: [value, each(['resource', 'action', 'id', 'data'], value)] })],
    ['POST /auth/login', (value) => each(['email', 'password'], value)],
    ['POST /auth/setup', (value) => each(['email', 'password', 'name'], value)],
    ['POST /auth/refresh', (value) => ({ refreshToken: value })],
    ['POST /admin/api/policies', (value) => each(['name', 'type', 'rules', 'priority', 'tags', 'description', 'createdBy'], value)],
    ['POST /admin/api/policies', (value) => policy(value)],
    ['POST /admin/api/policies', (value) => policy(each(RULE_MEMBERS, value))],
    ['POST /admin/api/policies', (value) => condition(value)],
    ['POST /admin/api/policies', (value) => condition(each(CONDITION_MEMBERS, value))],
    ['POST /admin/api/policies', (value) => condition({ field: 'resource.title', operator: 'eq', value })],
    ['POST /admin/api/policies', (value) => condition({ anyOf: [value, { not: value }, { expression: value }] })],
    [`PUT /admin/api/policies/${policyId}`, (value) => value],
    [`POST /admin/api/policies/${policyId}/assign/role/viewer`, (value) => each(['priority', 'isActive', 'assignedBy'], value)],
    [`POST /admin/api/policies/${policyId}/assign/user/${userId}`, (value) => each(['expiresAt', 'context'], value)],
    [`POST /admin/api/policies/${policyId}/test`, (value) => each(['user', 'resource', 'action', 'environment', 'data'], value)],
    ['POST /admin/api/policies/test-access', (value) => ({ user: each(['id', 'role'], value), resource: { name: 'Case' }, action: value })],
  ];
}

const fields = `
  title: { type: string, required: true }
  amount: { type: integer }
  price: { type: decimal }
  tags: { type: list, of: string }
  openedOn: { type: date }
  isOpen: { type: boolean }
  ownerId: { type: reference, to: User }
  extra: { type: json }
  pin: { type: string, writeOnly: true }
`;

const service = await startService({ definitions: { 'Case.yaml': `name: Case\nfields:${fields}` }, settings: { loginAttempts: 10_000 } });
const [admin, user] = [await service.admin(), await service.user()];
const policyId = await service.createPolicy({ role: 'user', rules: [{ resource: '*', action: '*' }] });
const caseId = await service.createRecord('Case', { title: 'x' });
const failures: string[] = [];
let answered = 0;
for (const [send, body] of routesOf({ policyId, userId: user.id, caseId })) {
  for (const value of VALUES) {
    for (const token of [undefined, user.token, admin.token]) {
      const [method = '', path = ''] = send.split(' ');
      const reply = await service.call(method, path, { token, body: body(value) });
      answered++;
      if (reply.status >= 500) failures.push(`${send} ${JSON.stringify(body(value))}: ${reply.status}`);
    }
  }
}
const isPolluted = 'polluted' in {};
const isWell = (await service.call('GET', `/api/Case/${caseId}`, { token: admin.token })).status === 200;
await service.close();
process.stdout.write(JSON.stringify({ answered, failures, isPolluted, isWell }));
