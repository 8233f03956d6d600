/** In development, a denial has a hint with the address of its explanation. In production it has none. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const definitions = { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' };
const services: RunningService[] = [];
beforeAll(async () => {
  services.push(await startService({ definitions, isDevelopment: true }), await startService({ definitions }));
});
afterAll(() => Promise.all(services.map((service) => service.close())));

const DENIED = [
  ['GET', '/api/Note'],
  ['POST', '/api/Note'],
  ['GET', '/api/Note/schema'],
  ['POST', '/api/Note/export'],
] as const;

describe('a denial', () => {
  it.each(DENIED)('names the address of the explanation of a denied %s %s in development', async (method, path) => {
    const [service] = services as [RunningService];
    const denied = await service.call(method, path, method === 'POST' ? { body: {} } : {});
    expect(denied.status, denied.text).toBe(403);
    const [, address = ''] = /^GET (\/admin\/api\/decisions\/\S+), with the token of an admin, /.exec(String(denied.at('hint'))) ?? [];
    expect(address).toBe(`/admin/api/decisions/${denied.at('decisionId')}`);
    const explained = await service.call('GET', address, { token: (await service.admin()).token });
    expect([explained.status, explained.at('data.allowed'), explained.at('data.reason')]).toEqual([200, false, denied.at('detail')]);
  });

  it.each(DENIED)('names no address of an explanation of a denied %s %s in production', async (method, path) => {
    const denied = await services[1]?.call(method, path, method === 'POST' ? { body: {} } : {});
    expect([denied?.status, denied?.at('hint')]).toEqual([403, undefined]);
    expect(denied?.text).not.toContain('/admin/api');
  });
});
