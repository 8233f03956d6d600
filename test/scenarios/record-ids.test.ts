/** Ids of records in upper case, which name the same record as in lower case. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nsoftDelete: true\nfields:\n  text: { type: string }\n' } });
  ({ token } = await service.admin());
});
afterAll(() => service.close());

it.each<[string, (id: string) => [method: string, path: string, body?: object]]>([
  ['GET', (id) => ['GET', `/api/Note/${id}`]],
  ['PUT', (id) => ['PUT', `/api/Note/${id}`, { text: 'b' }]],
  ['DELETE', (id) => ['DELETE', `/api/Note/${id}`]],
  ['the action read', (id) => ['POST', '/api/Note/read', { id }]],
  ['the action update', (id) => ['POST', '/api/Note/update', { id, data: { text: 'b' } }]],
  ['a batch', (id) => ['POST', '/api/batch', { atomic: true, requests: [{ resource: 'Note', action: 'read', data: { id } }] }]],
])('%s finds the record of an id in upper case, and its audit entry has the id in lower case', async (_, toRequest) => {
  const id = await service.createRecord('Note', { text: 'a' });
  const [method, path, body] = toRequest(id.toUpperCase());
  const reply = await service.call(method, path, { token, body });
  expect(reply.status, reply.text).toBeLessThan(300);
  const [entry] = await service.decisions('limit=1');
  expect(entry).toMatchObject({ resource: 'Note', recordId: id, allowed: true });
});

it('restores the record of an id in upper case', async () => {
  const id = await service.createRecord('Note', { text: 'a' });
  await service.call('DELETE', `/api/Note/${id}`, { token });
  const reply = await service.call('POST', '/api/Note/restore', { token, body: { id: id.toUpperCase() } });
  expect(reply.status, reply.text).toBe(200);
});

it('the own permissions take an id in upper case and in lower case as one record', async () => {
  const id = await service.createRecord('Note', { text: 'a' });
  const body = { resource: 'Note', actions: ['read'], ids: [id.toUpperCase(), id] };
  const reply = await service.call('POST', '/auth/me/permissions', { token, body });
  expect(reply.at('data')).toMatchObject([{ action: 'read', id, effect: 'allow' }]);
});
