import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { readBatch } from './batch.ts';
import { bare, limits, refusalOf } from './call.fixture.ts';

describe('POST /api/batch', () => {
  const batch = (body: Json | undefined) => readBatch(body, limits);
  const read = { resource: 'Article', action: 'read', id: '7' };

  it('reads each request, and lets a malformed one stand as its problem', () => {
    const { items, atomic } = batch({ requests: [read, { resource: 'Article', action: 'frob' }, { ...read, ids: 1 }] });
    expect(atomic).toBe(false);
    expect(items[0]).toEqual({ ...bare, action: 'read', id: '7' });
    expect(items.slice(1).map((item) => (item instanceof Problem ? item.code : item))).toEqual(['REQUEST_NO_ROUTE', 'REQUEST_MALFORMED']);
  });

  it.each<[Json, string]>([
    [1, 'REQUEST_MALFORMED'],
    [null, 'REQUEST_MALFORMED'],
    [[read], 'REQUEST_MALFORMED'],
    [{ action: 'read', id: '7' }, 'REQUEST_MALFORMED'],
    [{ resource: 1, action: 'read', id: '7' }, 'REQUEST_MALFORMED'],
    [{ resource: 'Article' }, 'REQUEST_MALFORMED'],
    [{ resource: 'Article', action: 'constructor' }, 'REQUEST_NO_ROUTE'],
    [{ resource: 'Article', action: 'batch', requests: [] }, 'REQUEST_MALFORMED'],
  ])('makes %j a problem of its own', (item, code) => {
    const [first] = batch({ requests: [item] }).items;
    expect(first instanceof Problem && first.code).toBe(code);
  });

  it.each<[string, Json | undefined, string]>([
    ['nothing', undefined, 'REQUEST_MALFORMED'],
    ['an array', [read], 'REQUEST_MALFORMED'],
    ['no requests', {}, 'REQUEST_MALFORMED'],
    ['an empty batch', { requests: [] }, 'REQUEST_MALFORMED'],
    ['an array-like object', { requests: { 0: read, length: 1 } }, 'REQUEST_MALFORMED'],
    ['an unknown member', { requests: [read], atomc: true }, 'REQUEST_MALFORMED'],
    ['atomic that is no boolean', { requests: [read], atomic: 'false' }, 'REQUEST_MALFORMED'],
    ['atomic that is null', { requests: [read], atomic: null }, 'REQUEST_MALFORMED'],
    ['too many', { requests: [read, read, read, read] }, 'REQUEST_TOO_LARGE'],
    [
      'imports of too many records',
      { requests: Array(2).fill({ resource: 'Article', action: 'import', data: [{}, {}, {}] }) },
      'REQUEST_TOO_LARGE',
    ],
  ])('refuses %s', (_, body, code) => {
    expect(refusalOf(() => batch(body))?.code).toBe(code);
  });

  it('reads atomic', () => {
    expect(batch({ requests: [read], atomic: true }).atomic).toBe(true);
  });
});
