/** The members of analytics that a request includes: decisions over time, frequent denials, and rules that decided nothing. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';

const DEFINITIONS = { 'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n' };

let service: RunningService;
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  const reader = await service.user();
  const rules = [
    { resource: 'Note', action: 'list', description: 'used' },
    { resource: 'Note', action: 'delete', description: 'never used' },
    { resource: 'Note', action: 'export', description: 'inactive', isActive: false },
  ];
  await service.createPolicy({ name: 'Readers', userId: reader.id, rules });
  await service.createPolicy({ name: 'Not assigned', rules });
  await service.createPolicy({ name: 'Viewers', role: 'viewer', rules: [{ resource: 'Note', action: 'read' }] });
  for (let index = 0; index < 3; index++) await service.call('GET', '/api/Note', { token: reader.token });
  for (let index = 0; index < 2; index++) await service.call('POST', '/api/Note', { token: reader.token, body: { text: 'x' } });
  await service.call('GET', '/api/Note');
});
afterAll(() => service.close());

const analyze = async (query: string): Promise<Reply> =>
  service.call('GET', `/admin/api/policies-analytics?${query}`, { token: (await service.admin()).token });

it.each([
  ['1h', 'hour'],
  ['7d', 'hour'],
  ['8d', 'day'],
])('the series of %s has a bucket for each %s, and the sums of the totals', async (timeframe, step) => {
  const { body } = await analyze(`timeframe=${timeframe}&include=series`);
  const { data } = body as {
    data: { series: { step: string; buckets: readonly Record<string, number>[] }; accessGrants: number; accessDenials: number };
  };
  const sum = (member: string): number => data.series.buckets.reduce((total, bucket) => total + (bucket[member] ?? 0), 0);
  expect(data.series.step).toBe(step);
  expect([sum('grants'), sum('denials')]).toEqual([data.accessGrants, data.accessDenials]);
  expect(data).not.toHaveProperty('topDenied');
});

it('the most frequent denials are counted by resource, action and role', async () => {
  expect((await analyze('include=topDenied')).at('data.topDenied')).toEqual({
    denied: [
      { resource: 'Note', action: 'create', role: 'user', count: 2 },
      { resource: 'Note', action: 'list', role: 'anon', count: 1 },
    ],
  });
});

it('the rules that decided nothing are the active ones of assigned policies', async () => {
  const { rules, total, partial } = (await analyze('include=neverMatched')).at('data.neverMatched') as {
    rules: readonly Record<string, unknown>[];
    total: number;
    partial?: true;
  };
  const names = rules.map(({ policy, action }) => `${policy}: ${action}`);
  expect(names).toEqual(expect.arrayContaining(['Readers: delete', 'Viewers: read']));
  expect(names.filter((name) => name.startsWith('Readers') || name.startsWith('Not assigned'))).toEqual(['Readers: delete']);
  expect([total, partial]).toEqual([rules.length, undefined]);
});

it('no more members are returned without include', async () => {
  const { body } = await analyze('');
  for (const member of ['series', 'topDenied', 'neverMatched']) expect((body as { data: object }).data).not.toHaveProperty(member);
});

it('refuses an unknown member', async () => {
  expect((await analyze('include=series,secrets')).body).toMatchObject({ status: 400, errors: [{ path: 'include' }] });
});
