/** Names that every JavaScript object inherits are treated like any other unknown name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Attack, type AttackTarget, type Body, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
const untouched = Object.getOwnPropertyNames(Object.prototype).toSorted();
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

/** Parses JSON. Unlike an object literal, `JSON.parse` keeps `__proto__` as a name. */
function json(text: string): Body {
  return JSON.parse(text) as Body;
}

const rule = (parts: string): Body => json(`{"name":"p","type":"CUSTOM","rules":[{"resource":"Case","action":"read",${parts}}]}`);

describe.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__'])('%s', (name) => {
  checkAttacks(
    () => target,
    [
      { name: 'as a resource', as: ['anon', 'admin'], send: `GET /api/${name}`, answers: 404 },
      { name: 'as a resource to write', as: 'admin', send: `POST /api/${name}`, body: { polluted: true }, answers: 404 },
      { name: 'as a resource to describe', as: 'admin', send: `GET /api/${name}/schema`, answers: 404 },
      { name: 'as an id', as: 'admin', send: `GET /api/Case/${name}`, answers: 404 },
      { name: 'as a field in where', as: 'admin', send: `GET /api/Case?where[${name}]=1`, answers: 400 },
      { name: 'as an operator in where', as: 'admin', send: `GET /api/Case?where[title][${name}]=1`, answers: 400 },
      {
        name: 'as a field of where in a body',
        as: 'admin',
        send: 'POST /api/Case/list',
        body: json(`{"where":{"${name}":{"eq":1}}}`),
        answers: 400,
      },
      {
        name: 'as an operator in a body',
        as: 'admin',
        send: 'POST /api/Case/list',
        body: json(`{"where":{"title":{"${name}":1}}}`),
        answers: 400,
      },
      { name: 'as a sort key', as: 'admin', send: `GET /api/Case?sort=${name}`, answers: 400 },
      { name: 'as a query parameter', as: 'admin', send: `GET /api/Case?${name}=1`, answers: 400 },
      { name: 'as a group of query parameters', as: 'admin', send: `GET /api/Case?${name}[polluted]=1`, answers: 400 },
      {
        name: 'as a filter key',
        as: 'admin',
        send: 'POST /api/Case/createIfNotExists',
        body: json(`{"filter":{"${name}":"x"},"data":{"title":"x"}}`),
        answers: 400,
      },
      {
        name: 'as a field',
        as: ['alice', 'admin'],
        send: 'POST /api/Case',
        body: json(`{"title":"x","${name}":{"polluted":true}}`),
        answers: 422,
      },
      {
        name: 'as a changed field',
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        body: json(`{"${name}":{"polluted":true}}`),
        answers: 422,
      },
      {
        name: 'as an imported field',
        send: 'POST /api/Case/import',
        body: json(`{"data":[{"title":"x","${name}":{"polluted":true}}]}`),
        answers: 422,
      },
      { name: 'as a member of an action', send: 'POST /api/Case/list', body: json(`{"${name}":{"polluted":true}}`), answers: 400 },
      {
        name: 'as a member of a batch',
        send: 'POST /api/batch',
        body: json(`{"${name}":true,"requests":[{"resource":"Case","action":"list"}]}`),
        answers: 400,
      },
      {
        name: 'as a member of a login',
        as: 'anon',
        send: 'POST /auth/login',
        body: json(`{"email":"a@b.example","password":"x","${name}":{}}`),
        answers: 400,
      },
      {
        name: 'as a role of a user',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'p@example.com', password: 'a long password', role: name },
        answers: 422,
      },
      {
        name: 'as a role to assign to',
        as: 'admin',
        send: ({ policies }) => `POST /admin/api/policies/${policies.user}/assign/role/${name}`,
        body: {},
        answers: 422,
      },
      { name: 'as a policy', as: 'admin', send: `GET /admin/api/policies/${name}`, answers: 404 },
      { name: 'as a decision', as: 'admin', send: `GET /admin/api/decisions/${name}`, answers: 404 },
      {
        name: 'as a member of a policy',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: json(`{"name":"p","type":"CUSTOM","rules":[{"resource":"*","action":"*"}],"${name}":{}}`),
        answers: 422,
      },
      {
        name: 'as the action of a rule',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: json(`{"name":"p","type":"CUSTOM","rules":[{"resource":"*","action":"${name}"}]}`),
        answers: 422,
      },
      {
        name: 'as the type of a policy',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: json(`{"name":"p","type":"${name}","rules":[{"resource":"*","action":"*"}]}`),
        answers: 422,
      },
      {
        name: 'as a path',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: rule(`"conditions":[{"field":"resource.${name}","operator":"exists","value":true}]`),
        answers: 422,
      },
      {
        name: 'as a group',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: rule(`"conditions":[{"field":"${name}.id","operator":"exists","value":true}]`),
        answers: 422,
      },
      {
        name: 'as an operator',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: rule(`"conditions":[{"field":"user.id","operator":"${name}","value":true}]`),
        answers: 422,
      },
      {
        name: 'as a member of a condition',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: rule(`"conditions":[{"field":"user.id","operator":"eq","value":"x","${name}":1}]`),
        answers: 422,
      },
      {
        name: 'as an attribute of a test',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: json(`{"user":{"role":"nobody","${name}":{"role":"admin","polluted":true}},"resource":{"name":"Case"},"action":"read"}`),
        answers: [200, 422],
        also: (reply) => expect(reply.at('data.allowed') ?? false).toBe(false),
      },
      {
        name: 'as a group of a test',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: json(`{"${name}":{},"user":{"role":"user"},"resource":{"name":"Case"},"action":"read"}`),
        answers: 400,
      },
    ] satisfies readonly Attack[],
    `treats ${name} like any unknown name `,
  );

  it.each(['user', 'user.department', 'request.data', 'resource.extra', 'environment'])(
    `treats ${name} below %s as a missing value in a condition`,
    async (path) => {
      const conditions = [{ not: { field: `${path}.${name}`, operator: 'exists', value: false } }];
      const body = { name: `${name} below ${path}`, type: 'CUSTOM', rules: [{ resource: 'Case', action: 'create', conditions }] };
      const written = await target.as('admin', 'POST', '/admin/api/policies', { body });
      expect([201, 422], written.text).toContain(written.status);
      if (written.status === 422) return;
      const test = { user: { id: target.ids.alice }, resource: { name: 'Case', title: 'x' }, action: 'create', data: { title: 'x' } };
      const tested = await target.as('admin', 'POST', `/admin/api/policies/${written.at('data.id')}/test`, { body: test });
      expect([tested.status, tested.at('data.allowed')], tested.text).toEqual([200, false]);
    },
  );

  it(`stores ${name} unchanged in a json field`, async () => {
    const extra = json(`{"${name}":{"polluted":true},"a":1}`);
    const made = await target.as('alice', 'POST', '/api/Case', { body: { title: 'json', extra } });
    expect(made.status, made.text).toBe(201);
    expect(JSON.stringify(made.at('data.extra'))).toBe(JSON.stringify(extra));
    await target.as('alice', 'DELETE', `/api/Case/${made.at('data.id')}`);
  });
});

// The service runs in this process, so a polluted prototype would be visible here.
it('no prototype was polluted', () => {
  expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(untouched);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect((Object as unknown as Record<string, unknown>)['polluted']).toBeUndefined();
});
