import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

const definitions = { Article: { fields: { title: { type: 'string' }, status: { type: 'string' } } } };

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({
    definitions,
    records: { Article: { a1: { title: 'Harbour reopens', status: 'draft' }, a2: { title: 'Bridge closes', status: 'published' } } },
    rules: [{ resource: 'Article', action: 'update', conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }] }],
  });
});
afterAll(() => admin.pipeline.dispose());

interface WhoCan {
  readonly data: {
    readonly roles: readonly { readonly role: string; readonly effect: string }[];
    readonly users: readonly {
      readonly id: string;
      readonly effect: string;
      readonly via: string;
      readonly when?: string;
      readonly residual?: unknown;
    }[];
  };
  readonly count: number;
  readonly nextCursor?: string;
}
const whoCan = (body: JsonObject): Promise<WhoCan> => admin.bodyOf('admin.tests.whoCan', { body });
const UPDATE = { resource: 'Article', action: 'update' };

describe('admin.tests.whoCan', () => {
  it('returns roles and users, with the condition on the record', async () => {
    const { data, count } = await whoCan(UPDATE);
    expect(data.roles.map(({ role, effect }) => [role, effect])).toEqual(
      expect.arrayContaining([
        ['user', 'conditional'],
        ['admin', 'allow'],
      ]),
    );
    const when = 'resource.status eq "draft"';
    expect(data.users).toMatchObject([
      { id: 'ada', effect: 'allow', via: 'role' },
      { id: 'ann', effect: 'conditional', when, via: 'role' },
      { id: 'ben', effect: 'conditional', when, via: 'role' },
    ]);
    expect(count).toBe(3);
    const residual = { type: 'comparison', field: 'resource.status', operator: 'eq', expected: 'draft', answer: 'open' };
    expect(data.users[1]?.residual).toEqual(residual);
  });

  it('decides about one record', async () => {
    expect((await whoCan({ ...UPDATE, id: 'a1' })).data.users.map(({ effect }) => effect)).toEqual(['allow', 'allow', 'allow']);
    const { roles, users } = (await whoCan({ ...UPDATE, id: 'a2' })).data;
    expect([roles.map(({ role }) => role), users.map(({ id }) => id)]).toEqual([['admin'], ['ada']]);
  });

  it('continues after the last user of the previous page', async () => {
    const ids = [1, 2, 3].map((digit) => `0198c0de-0000-7000-8000-00000000000${digit}`);
    const User = Object.fromEntries(ids.map((id) => [id, { email: `${id}@example.com`, role: 'admin', isActive: true }]));
    const paged = await openAdmin({ definitions, records: { User } });
    const page = (body: JsonObject): Promise<WhoCan> => paged.bodyOf('admin.tests.whoCan', { body: { ...UPDATE, ...body } });
    const first = await page({ limit: 2 });
    const second = await page({ cursor: first.nextCursor ?? '' });
    expect([first, second].map(({ data }) => data.users.map(({ id }) => id))).toEqual([ids.slice(0, 2), [...ids.slice(2), 'ada']]);
    expect(second.nextCursor).toBeUndefined();
    await paged.pipeline.dispose();
  });

  it.each<[JsonObject, string]>([
    [{}, 'REQUEST_MALFORMED resource:required action:required'],
    [{ ...UPDATE, limit: 1001, cursor: 5 }, 'REQUEST_MALFORMED limit:range cursor:type'],
    [{ ...UPDATE, action: 'listDeleted' }, 'REQUEST_MALFORMED action:enum'],
    [{ ...UPDATE, resource: 'Artcle' }, 'REQUEST_MALFORMED resource:unknown'],
    [{ ...UPDATE, action: 'create', id: 'a1' }, 'REQUEST_MALFORMED id:unknown'],
    [{ ...UPDATE, cursor: 'xyz' }, 'REQUEST_CURSOR'],
    [{ ...UPDATE, id: 'unknown' }, 'RECORD_UNKNOWN'],
  ])('refuses %j with %s', async (body, expected) => {
    expect(await codeOf(whoCan(body))).toBe(expected);
  });
});
