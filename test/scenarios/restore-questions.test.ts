/** Questions about a restore are answered as the restore is decided: on the deleted record. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import type { ScenarioContext } from './scenario.ts';
import { startFolders } from './soft-delete-service.ts';

let context: ScenarioContext;
beforeAll(async () => {
  context = await startFolders();
});
afterAll(() => context.service.close());

const asAdmin = (path: string, body: object): Promise<Reply> =>
  context.service.call('POST', path, { token: context.tokens.get('admin'), body });

it('questions about a restore are decided on the deleted record', async () => {
  const { service, tokens, kept } = context;
  const maya = kept.get('maya') ?? '';
  const deletedBy = async (name: string): Promise<string> => {
    const id = await service.createRecord('Article', { slug: `by-${name}`, ownerId: maya });
    expect((await service.call('DELETE', `/api/Article/${id}`, { token: tokens.get(name) })).status).toBe(200);
    return id;
  };
  const answers = async (id: string): Promise<readonly unknown[]> => {
    const question = { user: { id: maya }, resource: { name: 'Article', id }, action: 'restore' };
    const tested = await asAdmin('/admin/api/policies/test-access', question);
    const found = await asAdmin('/admin/api/policies/who-can', { resource: 'Article', id, action: 'restore' });
    const users = (found.at('data.users') ?? []) as readonly { id: string }[];
    const { status } = await service.call('POST', '/api/Article/restore', { token: tokens.get('maya'), body: { id } });
    return [tested.at('data.allowed'), tested.at('warnings'), users.some((user) => user.id === maya), status];
  };
  expect(await answers(await deletedBy('maya'))).toEqual([true, undefined, true, 200]);
  expect(await answers(await deletedBy('admin'))).toEqual([false, undefined, false, 403]);
});

it('who-can finds no record to restore if the record is not deleted', async () => {
  const id = await context.service.createRecord('Folder', { label: 'present' });
  const reply = await asAdmin('/admin/api/policies/who-can', { resource: 'Folder', id, action: 'restore' });
  expect([reply.status, reply.at('code')]).toEqual([404, 'RECORD_UNKNOWN']);
});
