import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RULE_ACTIONS } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: { Article: { fields: { title: { type: 'string' } } }, Note: { fields: { text: { type: 'string' } } } },
    records: { User: { gone: { name: 'Gone', email: 'gone@example.com', role: 'user', isActive: false } } },
    rules: [
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'list', conditions: [{ field: 'resource.title', operator: 'eq', value: 'x' }] },
    ],
  });
});
afterAll(() => admin.pipeline.dispose());

interface Permissions {
  readonly data: readonly { readonly resource: string; readonly action: string; readonly effect: string; readonly rule?: object }[];
  readonly user: JsonObject;
  readonly count: number;
  readonly nextCursor?: string;
  readonly warnings?: readonly string[];
}
const permissions = (userId: string, body?: JsonObject): Promise<Permissions> =>
  admin.bodyOf('admin.tests.permissions', { params: { userId }, ...(body !== undefined && { body }) });

describe('admin.tests.permissions', () => {
  it('decides every action on the named resources, each resource once', async () => {
    const { data, user } = await permissions('ann', { resources: ['Article', 'Article'] });
    expect(data.map(({ action }) => action)).toEqual(RULE_ACTIONS);
    const effects = Object.fromEntries(data.map(({ action, effect }) => [action, effect]));
    expect(effects).toMatchObject({ read: 'allow', list: 'conditional', update: 'deny' });
    expect(user).toEqual({ id: 'ann', name: 'Ann', email: 'ann@example.com', role: 'user', isActive: true });
  });

  it('decides about all resources if the request has no body', async () => {
    const found = new Set<string>();
    for (let page = await permissions('ann'); ; page = await permissions('ann', { cursor: page.nextCursor })) {
      for (const { resource } of page.data) found.add(resource);
      if (page.nextCursor === undefined) break;
    }
    expect([...found]).toEqual(expect.arrayContaining(['Article', 'Note', 'User']));
  });

  it('denies an inactive user everything, with a warning', async () => {
    const { data, warnings } = await permissions('gone', { resources: ['Article'] });
    expect(new Set(data.map(({ effect, rule }) => [effect, rule].join(' ')))).toEqual(new Set(['deny ']));
    expect(warnings).toEqual([expect.stringContaining('not active')]);
  });

  it.each<[string, JsonObject, string]>([
    ['an empty list of resources', { resources: [] }, 'REQUEST_MALFORMED resources:tooFew'],
    ['501 resources', { resources: Array<string>(501).fill('Note') }, 'REQUEST_MALFORMED resources:tooMany'],
    ['a name that is no text', { resources: ['Note', 'Nto', 5] }, 'REQUEST_MALFORMED resources.2:type'],
    ['unknown resources', { resources: ['Note', 'Nto', '_Policy'] }, 'REQUEST_MALFORMED resources.1:unknown resources.2:unknown'],
    ['an unknown member', { environment: { ip: 'home' }, role: 'user' }, 'REQUEST_MALFORMED role:unknown environment.ip:format'],
    ['an invalid cursor', { cursor: 'xyz' }, 'REQUEST_CURSOR'],
  ])('refuses a query of permissions with %s', async (_, body, expected) => {
    expect(await codeOf(permissions('ann', body))).toBe(expected);
  });

  it('refuses an unknown user', async () => {
    expect(await codeOf(permissions('unknown'))).toBe('USER_UNKNOWN');
  });
});
