import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import { failure } from '../storage/storage.fixture.ts';
import { openPipeline, type TestPipeline, type TestRequest, type TestUser } from './pipeline.fixture.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({ definitions: { Article: { fields: { currentPassword: { type: 'string' } } } } });
});
afterAll(() => test.dispose());

describe('the context of a request', () => {
  it('the context has the resource, the caller and the origin, and no entries', async () => {
    await test.inContext({ as: 'ann', request: { action: 'list', resource: 'Article' } }, async (context) => {
      expect(context.resource.name).toBe('Article');
      expect(context.principal).toMatchObject({ id: 'ann', role: 'user', attributes: { email: 'ann@example.com' } });
      expect(context.origin).toMatchObject({ requestId: 'r1', ip: '192.0.2.1' });
      expect(context.entries).toEqual([]);
    });
  });

  it('the context of a request without a token has no user id', async () => {
    await test.inContext({ as: 'anon', request: { action: 'list', resource: 'Article' } }, async ({ principal }) => {
      expect([principal.id, principal.role]).toEqual([undefined, 'anon']);
    });
  });

  it.each<[string, TestUser, string, boolean]>([
    ['an unknown resource', 'ann', 'Articel', false],
    ['an internal resource', 'ann', '_Policy', false],
    ['an internal resource for an admin', 'ada', '_Policy', false],
    ['a member of every object', 'ada', 'constructor', false],
    ['an unknown resource, with the similar name for an admin', 'ada', 'Articel', true],
  ])('a request is refused for %s', async (_, as, resource, suggests) => {
    const error = await failure(test.inContext({ as, request: { action: 'list', resource } }, async () => undefined));
    if (!(error instanceof Problem)) throw error;
    expect([error.code, error.detail.includes('"Article"')]).toEqual(['RESOURCE_UNKNOWN', suggests]);
  });

  it('a request for an unknown resource is refused with at most 64 characters of the name', async () => {
    const request: TestRequest = { action: 'list', resource: 'x'.repeat(1000) };
    const error = await failure(test.inContext({ as: 'ann', request }, async () => undefined));
    expect((error as Problem).detail.match(/x+/)?.[0]).toHaveLength(64);
  });
});

describe('the current password', () => {
  it.each<[string, TestRequest, { readonly data: unknown; readonly currentPassword: unknown }]>([
    [
      'is moved out of the data of an update of a user',
      { action: 'update', resource: 'User', data: { name: 'Ann', currentPassword: 'old' } },
      { data: { name: 'Ann' }, currentPassword: 'old' },
    ],
    [
      'is moved out of the data of an updateIfExists of a user',
      { action: 'updateIfExists', resource: 'User', data: { currentPassword: 'old' } },
      { data: {}, currentPassword: 'old' },
    ],
    [
      'is moved out of the data if it is not a text, so that no condition reads it',
      { action: 'update', resource: 'User', data: { currentPassword: null } },
      { data: {}, currentPassword: null },
    ],
    [
      'is absent if the data has none',
      { action: 'update', resource: 'User', data: { name: 'Ann' } },
      { data: { name: 'Ann' }, currentPassword: undefined },
    ],
    [
      'stays in the data of a create, where it is an unknown field',
      { action: 'create', resource: 'User', data: { currentPassword: 'old' } },
      { data: { currentPassword: 'old' }, currentPassword: undefined },
    ],
    [
      'stays in the data of another resource, which may have such a field',
      { action: 'update', resource: 'Article', data: { currentPassword: 'old' } },
      { data: { currentPassword: 'old' }, currentPassword: undefined },
    ],
    [
      'is absent if the data is not an object',
      { action: 'update', resource: 'User', data: ['currentPassword'] },
      { data: ['currentPassword'], currentPassword: undefined },
    ],
  ])('the current password %s', async (_, request, expected) => {
    await test.inContext({ as: 'ann', request }, async ({ request: { data }, currentPassword }) => {
      expect({ data, currentPassword }).toEqual(expected);
    });
  });
});
