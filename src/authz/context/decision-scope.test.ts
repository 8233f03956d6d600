import { describe, expect, it } from 'vitest';
import { resourceOf, SCOPE_PARTS, scopeOf } from '../../../test/policy-fixtures.ts';
import { type ContextGroup, type Path, UNRESOLVED } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { applyHypothesis, type ScopeInput } from './decision-scope.ts';

function pathOf(text: string): Path {
  const [group = '', ...keys] = text.split('.');
  return { group: group as ContextGroup, keys, text };
}

const record = { id: 'a1', title: 'Hello', tags: ['x', 'y'], extra: { deep: { er: 1 }, list: [{ a: 1 }] }, embargo: 'secret' };

describe('valueOf', () => {
  const rows: readonly [path: string, expected: unknown, parts?: Partial<ScopeInput>][] = [
    ['user.id', 'u1'],
    ['user.role', 'user'],
    ['user.department', 'sports'],
    ['user.missing', undefined],
    ['user.id', undefined, { principal: { role: 'anon', attributes: { id: 'claimed', role: 'admin' } } }],
    ['user.role', 'anon', { principal: { role: 'anon', attributes: { role: 'admin' } } }],
    ['user.password', undefined, { principal: { id: 'u1', role: 'user', attributes: { password: 'hash' } } }],
    ['user.constructor', undefined],
    ['user.__proto__', undefined],
    ['user.email.length', undefined],
    ['resource.title', 'Hello', { record }],
    ['resource.tags', ['x', 'y'], { record }],
    ['resource.tags.0', undefined, { record }],
    ['resource.tags.length', undefined, { record }],
    ['resource.extra.deep.er', 1, { record }],
    ['resource.extra.deep.toString', undefined, { record }],
    ['resource.extra.list.0.a', undefined, { record }],
    ['resource.embargo', undefined, { record }],
    ['resource.undefinedField', undefined, { record: { undefinedField: 1 } }],
    ['resource.name', 'Article', { record }],
    ['resource.name', 'Sports', { resource: resourceOf('Desk'), record: { name: 'Sports' } }],
    ['resource.name', undefined, { resource: resourceOf('Desk'), record: {} }],
    ['resource.id', 'a1', { record }],
    ['resource.id', 'a9', { record: undefined, recordId: 'a9' }],
    ['resource.id', undefined, { record: undefined }],
    ['resource.title', undefined, { record: undefined, recordId: 'a9' }],
    ['resource.title', UNRESOLVED, { record: UNRESOLVED }],
    ['resource.extra.deep', UNRESOLVED, { record: UNRESOLVED }],
    ['resource.id', UNRESOLVED, { record: UNRESOLVED }],
    ['resource.embargo', undefined, { record: UNRESOLVED }],
    ['resource.foo', undefined, { record: UNRESOLVED }],
    ['resource.name', 'Article', { record: UNRESOLVED }],
    ['resource.name', UNRESOLVED, { record: UNRESOLVED, resource: resourceOf('Desk') }],
    ['environment.timestamp', '2026-03-04T10:30:00.000Z'],
    ['environment.date', '2026-03-04'],
    ['environment.hour', 10],
    ['environment.minute', 30],
    ['environment.dayOfWeek', 3],
    ['environment.ip', '10.1.2.3'],
    ['environment.constructor', undefined],
    ['request.method', 'GET'],
    ['request.path', '/api/Article'],
    ['request.ip', '10.1.2.3'],
    ['request.action', 'read'],
    ['request.token', undefined, { origin: { ...SCOPE_PARTS.origin, token: 'bearer' } as ScopeInput['origin'] }],
    ['request.data.title', 'new', { data: { title: 'new', embargo: 'secret' } }],
    ['request.data.embargo', undefined, { data: { title: 'new', embargo: 'secret' } }],
    ['request.data', { title: 'new' }, { data: { title: 'new', embargo: 'secret' } }],
    ['request.data', [{ title: 'new' }, 3], { data: [{ title: 'new', embargo: 'secret' }, 3] }],
    ['request.data', undefined],
  ];
  it.each(rows)('returns the value of %s as %j (case %#)', (path, expected, parts) => {
    expect(scopeOf(parts).valueOf(pathOf(path))).toStrictEqual(expected);
  });

  it('returns the value of each path, in any order of reads', () => {
    const scope = scopeOf({ record });
    const [title, tags, missing] = ['resource.title', 'resource.tags', 'resource.views'].map(pathOf) as [Path, Path, Path];
    const reads = [missing, title, title, missing, tags, title];
    expect(reads.map((path) => scope.valueOf(path))).toEqual([undefined, 'Hello', 'Hello', undefined, ['x', 'y'], 'Hello']);
  });
});

describe('the time zone', () => {
  const rows: readonly [timeZone: string, now: string, date: string, hour: number, dayOfWeek: number][] = [
    ['UTC', '2026-03-08T23:59:59Z', '2026-03-08', 23, 7],
    ['Asia/Tokyo', '2026-03-08T23:59:59Z', '2026-03-09', 8, 1],
    ['America/New_York', '2026-03-08T04:59:00Z', '2026-03-07', 23, 6],
    // The hour from 2 to 3 does not exist on this day.
    ['America/New_York', '2026-03-08T07:00:00Z', '2026-03-08', 3, 7],
    ['Europe/Berlin', '2026-01-01T00:00:00+01:00', '2026-01-01', 0, 4],
    ['UTC', '0099-12-31T00:00:00Z', '0099-12-31', 0, 4],
  ];
  it.each(rows)('returns date, hour and day of the week in %s at %s', (timeZone, now, date, hour, dayOfWeek) => {
    const scope = scopeOf({ timeZone, now: Date.parse(now) });
    expect(['date', 'hour', 'dayOfWeek'].map((name) => scope.valueOf(pathOf(`environment.${name}`)))).toStrictEqual([
      date,
      hour,
      dayOfWeek,
    ]);
  });

  it('the time changes with the first millisecond of a second, in both directions', () => {
    const at = (text: string) =>
      ['hour', 'minute'].map((name) => scopeOf({ now: Date.parse(text) }).valueOf(pathOf(`environment.${name}`)));
    expect(at('2026-03-08T10:59:59.999Z')).toEqual([10, 59]);
    expect(at('2026-03-08T11:00:00.000Z')).toEqual([11, 0]);
    expect(at('2026-03-08T10:59:59.000Z')).toEqual([10, 59]);
  });
});

describe('kindOf', () => {
  const rows: readonly [path: string, expected: unknown, parts?: Partial<ScopeInput>][] = [
    ['resource.views', { kind: 'number', whole: true }],
    ['resource.price', { kind: 'decimal' }],
    ['resource.createdAt', { kind: 'timestamp' }],
    ['resource.tags', { kind: 'list', itemKind: 'text' }],
    ['resource.extra', { kind: 'json' }],
    ['resource.extra.deep', undefined],
    ['resource.name', { kind: 'text' }],
    ['resource.missing', undefined],
    ['resource.__proto__', undefined],
    ['user.id', { kind: 'text' }],
    ['user.id', { kind: 'text' }, { definitions: new Map() }],
    ['user.isActive', { kind: 'boolean' }],
    ['user.department', undefined],
    ['environment.timestamp', { kind: 'timestamp' }],
    ['environment.date', { kind: 'date' }],
    ['environment.hour', { kind: 'number', whole: true }],
    ['environment.hour.x', undefined],
    ['request.method', { kind: 'text' }],
    ['request.data.views', undefined],
  ];
  it.each(rows)('returns the kind of %s: %j (case %#)', (path, expected, parts) => {
    expect(scopeOf(parts).kindOf(pathOf(path))).toEqual(expected);
  });
});

describe('referenced records', () => {
  const author: JsonObject = { id: 'u7', email: 'a@example.com', password: 'hash', isActive: true };
  const referenced = new Map([['resource.authorId', author]]);
  const record: JsonObject = { id: 'a1', authorId: 'u7' };
  const valueAt = (text: string, parts: Partial<ScopeInput>) => scopeOf(parts).valueOf(pathOf(text));

  it('reads a referenced record without its secret fields', () => {
    expect(valueAt('resource.authorId', { record, referenced })).toBe('u7');
    expect(valueAt('resource.authorId.email', { record, referenced })).toBe('a@example.com');
    expect(valueAt('resource.authorId.isActive', { record, referenced })).toBe(true);
    expect(valueAt('resource.authorId.password', { record, referenced })).toBeUndefined();
    expect(valueAt('resource.authorId.constructor', { record, referenced })).toBeUndefined();
  });

  it('a referenced record is missing without a reference or without the record itself, and open if the record is open', () => {
    expect(valueAt('resource.authorId.email', { record: { id: 'a1' }, referenced })).toBeUndefined();
    expect(valueAt('resource.authorId.email', { record })).toBeUndefined();
    expect(valueAt('resource.authorId.email', { record: UNRESOLVED, referenced })).toBe(UNRESOLVED);
  });

  it('a referenced record has the kinds of its own definition', () => {
    expect(scopeOf().kindOf(pathOf('resource.authorId.isActive'))).toEqual({ kind: 'boolean' });
    expect(scopeOf().kindOf(pathOf('resource.authorId.password'))).toBeUndefined();
    expect(scopeOf().kindOf(pathOf('resource.authorId.email.domain'))).toBeUndefined();
  });
});

const stored = { ...SCOPE_PARTS, record: { id: 'a1', title: 'Hello', status: 'draft' }, recordId: 'a1' };

describe('layOver', () => {
  it('changes nothing if the hypothesis is empty', () => {
    expect(applyHypothesis(stored, {})).toStrictEqual(stored);
  });

  it('replaces stored attributes of the user', () => {
    const { principal } = applyHypothesis(stored, { user: { id: 'u2', role: 'editor', department: 'culture' } });
    expect(principal).toMatchObject({ id: 'u2', role: 'editor', attributes: { department: 'culture', email: 'u1@example.com' } });
  });

  it('keeps the stored id and role if the given ones are not texts', () => {
    expect(applyHypothesis(stored, { user: { id: 7, role: null } }).principal).toMatchObject({ id: 'u1', role: 'user' });
  });

  it('replaces fields of the record', () => {
    const { record } = applyHypothesis(stored, { resource: { name: 'Given', status: 'published' } });
    expect(record).toStrictEqual({ id: 'a1', title: 'Hello', name: 'Given', status: 'published' });
  });

  it('creates a record if none is stored', () => {
    const parts = applyHypothesis({ ...stored, record: undefined, recordId: undefined }, { resource: { id: 'a2', status: 'draft' } });
    expect(parts).toMatchObject({ record: { id: 'a2', status: 'draft' }, recordId: 'a2' });
    expect(applyHypothesis({ ...stored, record: UNRESOLVED }, { resource: { status: 'draft' } }).record).toStrictEqual({ status: 'draft' });
  });

  it('replaces the time and the address', () => {
    expect(applyHypothesis(stored, { now: 5, ip: '::1' })).toMatchObject({
      now: 5,
      origin: { method: 'GET', path: '/api/Article', ip: '::1' },
    });
  });
});
