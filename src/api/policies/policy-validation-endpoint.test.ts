import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterAll(() => admin.pipeline.dispose());

interface Validated {
  readonly data: {
    readonly valid: boolean;
    readonly errors: readonly { readonly path: string; readonly code: string }[];
    readonly differences?: readonly { readonly path: string; readonly meaning: string }[];
    readonly warnings?: readonly { readonly code: string }[];
  };
}

describe('admin.policies.validate', () => {
  it.each<[string, Json | undefined, string]>([
    ['no body', undefined, 'name:required type:required rules:required'],
    ['a list', [], ':type'],
    ['null', null, ':type'],
    ['a member that the service sets', { name: 'x', type: 'CUSTOM', rules: [], version: 1 }, 'version:readOnly'],
    ['an id that is no text', { id: 7 }, 'id:reference'],
  ])('returns the mistakes of %s', async (_, body, mistakes) => {
    const { data } = await admin.bodyOf<Validated>('admin.policies.validate', body === undefined ? {} : { body });
    expect([data.valid, data.errors.map(({ path, code }) => `${path}:${code}`).join(' ')]).toEqual([false, mistakes]);
  });

  it('compares a change with the other rules as if it were stored, and not with the stored version', async () => {
    const id = await createdPolicy(admin, 'validated');
    const codesOf = async (body: Json) =>
      ((await admin.bodyOf<Validated>('admin.policies.validate', { body })).data.warnings ?? []).map(({ code }) => code);
    expect(await codesOf({ id, priority: 7 })).toEqual(['unassigned']);
    const rule = { resource: 'Article', action: 'read' };
    expect(await codesOf({ id, rules: [rule, rule] })).toContain('duplicate');
  });

  it('compares a valid change with the stored policy, and a new policy with none', async () => {
    const id = await createdPolicy(admin, 'compared');
    const differencesOf = async (body: Json) => (await admin.bodyOf<Validated>('admin.policies.validate', { body })).data.differences;
    expect(await differencesOf({ id, priority: 7 })).toMatchObject([{ path: 'priority', meaning: expect.stringContaining('priority 7') }]);
    expect(await differencesOf({ id })).toEqual([]);
    expect(await differencesOf({ id, priority: 'high' })).toBeUndefined();
    expect(await differencesOf({ name: 'other', type: 'ROLE_BASED', rules: [] })).toBeUndefined();
  });
});
