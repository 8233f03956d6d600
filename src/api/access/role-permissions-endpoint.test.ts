import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' }, ownerId: { type: 'string' } } } } });
  await define('Viewers', { role: 'viewer' }, [
    { resource: 'Article', action: 'read', effect: 'ALLOW', conditions: [] },
    {
      resource: 'Article',
      action: 'update',
      effect: 'ALLOW',
      conditions: [{ field: 'resource.ownerId', operator: 'eq', value: '${user.id}' }],
    },
    { resource: 'Article', action: 'list', effect: 'ALLOW', conditions: [{ field: 'user.role', operator: 'eq', value: 'viewer' }] },
    { resource: 'Article', action: 'export', effect: 'ALLOW', conditions: [{ field: 'user.role', operator: 'eq', value: 'editor' }] },
  ]);
  await define('of Ann', { userId: 'ann' }, [{ resource: 'Article', action: 'delete', effect: 'ALLOW', conditions: [] }]);
});
afterAll(() => admin.pipeline.dispose());

async function define(name: string, assignee: Readonly<Record<string, string>>, rules: readonly Json[]): Promise<void> {
  const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', { body: { name, type: 'CUSTOM', rules } });
  await admin.send('admin.assignments.batch', { body: { changes: [{ op: 'assign', policyId: data.id, ...assignee }] } });
}

interface Listed {
  readonly data: readonly { readonly action: string; readonly effect: string; readonly when?: string }[];
  readonly role: string;
}

const ask = (role: string, body: Readonly<Record<string, Json>> = {}) =>
  admin.bodyOf<Listed>('admin.tests.rolePermissions', { params: { role }, body: { resources: ['Article'], ...body } });
const effectsOf = ({ data }: Listed) => Object.fromEntries(data.map(({ action, effect }) => [action, effect]));

describe('the permissions of a role', () => {
  it('lists a decision for each action, conditional if it depends on the user', async () => {
    const body = await ask('viewer');
    expect(body.role).toBe('viewer');
    expect(effectsOf(body)).toMatchObject({
      read: 'allow',
      update: 'conditional',
      list: 'allow',
      export: 'deny',
      delete: 'deny',
      create: 'deny',
    });
    expect(body.data.find(({ action }) => action === 'update')?.when).toMatch(/user\.id/);
  });

  it('lists no permission that a role does not have', async () => {
    expect(new Set(Object.values(effectsOf(await ask('editor'))))).toEqual(new Set(['deny']));
  });

  it('answers with a draft', async () => {
    const rules = [{ resource: 'Article', action: 'read', effect: 'ALLOW', conditions: [] }];
    const draft = { policies: [{ name: 'Editors', type: 'CUSTOM', rules }], assignments: [{ policyId: 'draft:0', role: 'editor' }] };
    expect(effectsOf(await ask('editor', { draft }))).toMatchObject({ read: 'allow', update: 'deny' });
    expect(effectsOf(await ask('editor'))).toMatchObject({ read: 'deny' });
  });

  it.each([
    ['a role that does not exist', 'boss', {}, 'VALUE_INVALID role:enum'],
    ['a resource that does not exist', 'viewer', { resources: ['Articel'] }, 'REQUEST_MALFORMED resources.0:unknown'],
    ['a cursor of another question', 'viewer', { cursor: 'abc' }, 'REQUEST_CURSOR'],
  ])('refuses a question with %s', async (_, role, body, code) => {
    expect((await codeOf(ask(role, body))).trim()).toBe(code);
  });
});
