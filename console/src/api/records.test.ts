import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createRecord } from './records.ts';

const CREATED = Response.json({ success: true, data: { id: 't1' } }, { status: 201 });

function refused(status: number): Response {
  return Response.json({ title: 'Refused', status, code: `CODE_${status}` }, { status });
}

beforeEach(() => {
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', { origin: 'http://localhost' });
});

describe('createRecord', () => {
  it('returns the record after the lists have been loaded again', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(CREATED));
    const { promise: loaded, resolve } = Promise.withResolvers<void>();
    const steps: string[] = [];
    const created = createRecord('Tip', {}, () => loaded.then(() => steps.push('loaded'))).then(({ id }) => steps.push(id));
    resolve();
    await created;
    expect(steps).toEqual(['loaded', 't1']);
  });

  it.each([
    [422, 0],
    [503, 0],
    [502, 1],
    [504, 1],
  ])('fails with %i at once, and loads the lists again %i times', async (status, times) => {
    vi.stubGlobal('fetch', () => Promise.resolve(refused(status)));
    const reload = vi.fn(() => new Promise<void>(() => undefined));
    await expect(createRecord('Tip', {}, reload)).rejects.toMatchObject({ problem: { status } });
    expect(reload).toHaveBeenCalledTimes(times);
  });

  it('loads the lists again after a lost connection, and fails at once', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    const reload = vi.fn(() => new Promise<void>(() => undefined));
    await expect(createRecord('Tip', {}, reload)).rejects.toMatchObject({ problem: { code: 'NETWORK' } });
    expect(reload).toHaveBeenCalledTimes(1);
  });
});
