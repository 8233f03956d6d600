/** A secret field cannot be used: every use of it gets the same response as an unknown field. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '../harness.ts';
import {
  type Attack,
  type AttackTarget,
  type Body,
  CALLERS,
  type Caller,
  checkAttacks,
  expectDiscreet,
  SECRETS,
  startAttackTarget,
  withoutIds,
} from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

interface Route {
  readonly name: string;
  send(field: string, value: string): { readonly method: string; readonly path: string; readonly options?: CallOptions };
}

const post = (path: string, body: unknown): ReturnType<Route['send']> => ({ method: 'POST', path, options: { body } });
const get = (path: string): ReturnType<Route['send']> => ({ method: 'GET', path });

/** Every way in which a client can name a field. */
const ROUTES: readonly Route[] = [
  { name: 'where', send: (field, value) => get(`/api/Case?where[${field}]=${value}`) },
  { name: 'where startsWith', send: (field, value) => get(`/api/Case?where[${field}][startsWith]=${value.slice(0, 6)}`) },
  { name: 'where gt', send: (field, value) => get(`/api/Case?where[${field}][gt]=${value}`) },
  { name: 'where isNull', send: (field) => get(`/api/Case?where[${field}][isNull]=false`) },
  { name: 'where in', send: (field, value) => get(`/api/Case?where[${field}][in]=${value}`) },
  { name: 'where matches', send: (field) => get(`/api/Case?where[${field}][matches]=.*`) },
  { name: 'where of another operator', send: (field) => get(`/api/Case?where[${field}][nosuch]=1`) },
  { name: 'where below a field', send: (field, value) => get(`/api/Case?where[extra.${field}]=${value}`) },
  { name: 'total', send: (field, value) => get(`/api/Case?total=true&limit=1&where[${field}]=${value}`) },
  { name: 'sort', send: (field) => get(`/api/Case?sort=${field}`) },
  { name: 'sort descending, beside another', send: (field) => get(`/api/Case?sort=title,-${field}`) },
  { name: 'action list', send: (field, value) => post('/api/Case/list', { where: { [field]: value } }) },
  { name: 'action list, operator', send: (field, value) => post('/api/Case/list', { where: { [field]: { contains: value } } }) },
  { name: 'action list, sort', send: (field) => post('/api/Case/list', { sort: `-${field}` }) },
  { name: 'action export', send: (field, value) => post('/api/Case/export', { where: { [field]: value } }) },
  { name: 'action export, sort', send: (field) => post('/api/Case/export', { sort: field }) },
  { name: 'fields', send: (field) => get(`/api/Case?fields=${field}`) },
  { name: 'fields, beside another', send: (field) => get(`/api/Case?fields=title,${field}`) },
  { name: 'action list, fields', send: (field) => post('/api/Case/list', { fields: [field] }) },
  { name: 'action export, fields', send: (field) => post('/api/Case/export', { fields: field }) },
  { name: 'expand', send: (field) => get(`/api/Case?expand=${field}`) },
  { name: 'expand, as the reference of another resource', send: (field) => get(`/api/User?expand=cases:Case.${field}`) },
  { name: 'action list, expand', send: (field) => post('/api/Case/list', { expand: [`cases:Case.${field}(3)`] }) },
  {
    name: 'batch list, fields and expand',
    send: (field) => post('/api/batch', { requests: [{ resource: 'Case', action: 'list', fields: [field], expand: [field] }] }),
  },
  {
    name: 'createIfNotExists',
    send: (field, value) => post('/api/Case/createIfNotExists', { filter: { [field]: value }, data: { title: 'x' } }),
  },
  {
    name: 'updateIfExists',
    send: (field, value) => post('/api/Case/updateIfExists', { filter: { [field]: value }, data: { title: 'x' } }),
  },
  {
    name: 'batch list',
    send: (field, value) => post('/api/batch', { requests: [{ resource: 'Case', action: 'list', where: { [field]: value } }] }),
  },
  {
    name: 'batch createIfNotExists',
    send: (field, value) =>
      post('/api/batch', {
        requests: [{ resource: 'Case', action: 'createIfNotExists', filter: { [field]: value }, data: { title: 'x' } }],
      }),
  },
  {
    name: 'batch updateIfExists, atomic',
    send: (field, value) =>
      post('/api/batch', {
        atomic: true,
        requests: [{ resource: 'Case', action: 'updateIfExists', filter: { [field]: value }, data: {} }],
      }),
  },
];

describe.each(CALLERS)('a secret field, named by %s', (caller: Caller) => {
  it.each(ROUTES)(`treats a secret field like an unknown field for ${caller}: $name`, async ({ send }) => {
    const before = await target.countCases();
    const [secret, unknown] = [await ask(caller, send('pin', SECRETS.alice)), await ask(caller, send('zqx', SECRETS.alice))];
    expect(secret.replaceAll('pin', '<field>')).toBe(unknown.replaceAll('zqx', '<field>'));
    expect(await target.countCases()).toBe(before);
  });

  it.each(ROUTES)(`gives ${caller} the same response for a right and a wrong value of a secret field: $name`, async ({ send }) => {
    expect(await ask(caller, send('pin', SECRETS.alice))).toBe(await ask(caller, send('pin', 'pin-of-nobody-0000')));
  });

  it.each(['password', 'recovery'])(`refuses ${caller} to filter or sort by the secret field User.%s`, async (field) => {
    for (const path of [`/api/User?where[${field}][isNull]=false`, `/api/User?sort=${field}`]) {
      const [secret, unknown] = [await ask(caller, get(path)), await ask(caller, get(path.replace(field, 'zqxzqxzqx')))];
      expect(secret.replaceAll(field, '<field>')).toBe(unknown.replaceAll('zqxzqxzqx', '<field>'));
    }
  });
});

/** Sends the request; returns the response without ids. */
async function ask(caller: Caller, { method, path, options }: ReturnType<Route['send']>): Promise<string> {
  const reply = await target.as(caller, method, path, options);
  expectDiscreet(reply);
  return withoutIds(reply);
}

const conditionOn = (field: string, value: unknown = true): Body => policy({ field, operator: value === true ? 'exists' : 'eq', value });
const expression = (text: string): Body => policy({ expression: text });
const policy = (condition: Body): Body => ({
  name: JSON.stringify(condition),
  type: 'CUSTOM',
  rules: [{ resource: 'Case', action: 'read', conditions: [condition] }],
});
const pinned = (pin: unknown): Body => ({ title: 'x', pin });
const hidesPin: Attack['also'] = (reply) => expect(reply.at('data.pin')).toBeUndefined();
const WRITE_POLICY = 'POST /admin/api/policies';

describe('secret values in responses', () => {
  checkAttacks(
    () => target,
    [
      { name: 'create', as: ['alice', 'eve', 'admin'], send: 'POST /api/Case', body: pinned(SECRETS.bob), answers: 201, also: hidesPin },
      {
        name: 'update',
        as: ['alice', 'admin'],
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        body: { pin: SECRETS.alice },
        answers: 200,
        also: hidesPin,
      },
      { name: 'read', as: ['alice', 'eve', 'admin'], send: ({ cases }) => `GET /api/Case/${cases.alice}`, answers: 200, also: hidesPin },
      { name: 'list', as: CALLERS, send: 'GET /api/Case', answers: 200 },
      { name: 'export', as: CALLERS, send: 'POST /api/Case/export', body: {}, answers: 200 },
      { name: 'schema', as: CALLERS, send: 'GET /api/Case/schema', answers: 200 },
      {
        name: 'a match',
        as: ['alice', 'admin'],
        send: 'POST /api/Case/createIfNotExists',
        body: { filter: { code: 'A-1' }, data: { title: 'x' } },
        answers: 200,
      },
      { name: 'a value that is too long', send: 'POST /api/Case', body: pinned(`${SECRETS.alice}${'x'.repeat(40)}`), answers: 422 },
      { name: 'a value of another type', send: 'POST /api/Case', body: pinned({ is: SECRETS.alice }), answers: 422 },
      {
        name: 'a user',
        as: ['eve', 'admin'],
        send: ({ ids }) => `GET /api/User/${ids.eve}`,
        answers: 200,
        also: (reply) => expect(reply.text).not.toMatch(/password|recovery/),
      },
      {
        name: 'the own user',
        as: ['eve', 'admin'],
        send: 'GET /auth/me',
        answers: 200,
        also: (reply) => expect(reply.text).not.toMatch(/password|recovery/),
      },
      {
        name: 'the API description',
        as: CALLERS,
        send: 'GET /openapi.json',
        answers: 200,
        also: (reply) => expect(reply.text).not.toMatch(/"(pin|recovery)"/),
      },
      { name: 'a condition on the record', as: 'admin', send: WRITE_POLICY, body: conditionOn('resource.pin'), answers: 422 },
      { name: 'a condition on the user', as: 'admin', send: WRITE_POLICY, body: conditionOn('user.recovery'), answers: 422 },
      { name: 'a condition on the password', as: 'admin', send: WRITE_POLICY, body: conditionOn('user.password'), answers: 422 },
      {
        name: 'a condition with a reference to it',
        as: 'admin',
        send: WRITE_POLICY,
        body: conditionOn('user.email', `\${resource.pin}`),
        answers: 422,
      },
      {
        name: 'a text with a reference to it',
        as: 'admin',
        send: WRITE_POLICY,
        body: conditionOn('user.email', `so \${resource.pin}`),
        answers: 422,
      },
      { name: 'an expression', as: 'admin', send: WRITE_POLICY, body: expression('resource.pin == "1"'), answers: 422 },
      {
        name: 'an expression with an index',
        as: 'admin',
        send: WRITE_POLICY,
        body: expression('resource["pin"] == "1"'),
        answers: 422,
      },
      {
        name: 'an access test',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: ({ ids, cases }) => ({ user: { id: ids.eve }, resource: { name: 'Case', id: cases.alice }, action: 'read' }),
        answers: 200,
      },
    ],
    'contains no secret value in the response to ',
  );

  it.each<[string, string, Body]>([
    ['the field', 'Case', { field: 'request.data.pin', operator: 'ne', value: 'something else' }],
    ['the field of any resource', '*', { field: 'request.data.pin', operator: 'ne', value: 'something else' }],
    ['all data', 'Case', { field: 'request.data', operator: 'exists', value: true }],
    ['all data of any resource', '*', { field: 'request.data', operator: 'exists', value: true }],
    ['the field in an expression', '*', { expression: 'request.data.pin != "something else"' }],
    ['all data in an expression', '*', { expression: 'size(request.data) > 0' }],
  ])('contains no secret value in the audit log if a condition reads %s', async (what, resource, condition) => {
    const rules = [{ resource, action: 'create', priority: 500, conditions: [condition] }];
    const written = await target.as('admin', 'POST', '/admin/api/policies', { body: { name: what, type: 'CUSTOM', rules } });
    // The policy may be refused. If it is accepted, it must not read the secret.
    expect([201, 422], written.text).toContain(written.status);
    if (written.status === 201)
      await target.as('admin', 'POST', `/admin/api/policies/${written.at('data.id')}/assign/role/user`, { body: {} });
    const made = await target.as('alice', 'POST', '/api/Case', { body: { title: 'sent', pin: SECRETS.bob } });
    expect(made.status, made.text).toBe(201);
    const entry = await target.as('admin', 'GET', `/admin/api/decisions/${made.headers['x-decision-id']}`);
    expect(entry.status).toBe(200);
    expectDiscreet(entry);
    if (written.status === 201) await target.as('admin', 'DELETE', `/admin/api/policies/${written.at('data.id')}`);
  });
});
