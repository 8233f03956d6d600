import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { Input, Type } from '../schemas/index.ts';
import { parseEndpointRequest } from './endpoint.ts';
import { createHttpRequest, refusalOf } from './http-request.fixture.ts';

const members = Input({ note: Type.Optional(Type.String({ maxLength: 5 })) });
const required = Input({ note: Type.String({ maxLength: 5 }) });
const malformed = (...mistakes: string[]) => ({ code: 'REQUEST_MALFORMED', mistakes });

describe('the body of parseEndpointRequest', () => {
  it.each<[string, Json]>([
    ['an object', { note: 'short' }],
    ['an empty object', {}],
  ])('accepts %s that matches the schema', (_, body) => {
    expect(parseEndpointRequest({ body: members }, createHttpRequest({ body })).body).toEqual(body);
  });

  it('an absent optional body is an empty object', () => {
    expect(parseEndpointRequest({ body: members, bodyOptional: true }, createHttpRequest({})).body).toEqual({});
  });

  it('refuses an absent body that is not optional, also if its schema requires no member', () => {
    expect(refusalOf(() => parseEndpointRequest({ body: members }, createHttpRequest({})))).toEqual(malformed('required '));
    expect(refusalOf(() => parseEndpointRequest({ body: required }, createHttpRequest({})))).toEqual(malformed('required note'));
  });

  it.each([true, false])('null is not an absent body (optional: %s)', (bodyOptional) => {
    const request = createHttpRequest({ body: null });
    expect(refusalOf(() => parseEndpointRequest({ body: members, bodyOptional }, request))).toEqual(malformed('type '));
  });

  it('refuses a body at an endpoint without one', () => {
    expect(refusalOf(() => parseEndpointRequest({}, createHttpRequest({ body: {} })))).toEqual(malformed());
  });
});

describe('the preconditions of parseEndpointRequest', () => {
  const parse = (endpoint: Parameters<typeof parseEndpointRequest>[0], header: 'ifMatch' | 'ifNoneMatch') => () =>
    parseEndpointRequest(endpoint, createHttpRequest({ [header]: '"1"' }));

  it.each([
    ['If-Match', 'a change of another kind', { method: 'POST' }, 'ifMatch'],
    ['If-Match', 'a read', { method: 'GET' }, 'ifMatch'],
    ['If-None-Match', 'a change', { method: 'PUT', ifMatch: true }, 'ifNoneMatch'],
  ] as const)('%s of %s is refused', (name, _, endpoint, header) => {
    expect(refusalOf(parse(endpoint, header))).toEqual(malformed(`unknown ${name}`));
  });

  it.each([
    ['If-Match', 'a change that evaluates it', { method: 'PUT', ifMatch: true }, 'ifMatch'],
    ['If-None-Match', 'a read, which caches add', { method: 'GET' }, 'ifNoneMatch'],
  ] as const)('%s of %s is accepted', (_, __, endpoint, header) => {
    expect(refusalOf(parse(endpoint, header))).toBeUndefined();
  });
});
