import { describe, expect, it } from 'vitest';
import type { Decision } from '../authz/decision/index.ts';
import type { ApplicableRules, CompiledRule, PathRead } from '../authz/policies/index.ts';
import { ALWAYS, type Path, type Scope, UNRESOLVED } from '../conditions/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { factsOf, readsToExplain, scopeFromFacts } from './entry-facts.ts';

function path(text: string): Path {
  const [group, ...keys] = text.split('.');
  return { group: group as Path['group'], keys, text };
}

const reads = (...texts: readonly string[]): readonly PathRead[] => texts.map((text, first) => ({ path: path(text), first }));

function scope(values: Readonly<Record<string, Json | typeof UNRESOLVED>>): Scope {
  return { now: 0, timeZone: 'UTC', kindOf: () => undefined, valueOf: ({ text }) => values[text] };
}

const NOT_KEPT = { notKept: true };

describe('factsOf', () => {
  it('returns the values that conditions read, without missing and unresolved ones', () => {
    const read = reads('user.id', 'resource.a', 'user.gone', 'resource.b');
    const facts = factsOf(read, scope({ 'user.id': 'u', 'resource.a': null, 'resource.b': UNRESOLVED, 'user.unread': 1 }), {
      maxBytes: 1000,
    });
    expect(facts).toEqual({ 'user.id': 'u', 'resource.a': null });
  });

  it('returns undefined if nothing was read', () => {
    expect(factsOf([], scope({}), { maxBytes: 1000 })).toBeUndefined();
    expect(factsOf(reads('user.id'), scope({}), { maxBytes: 1000 })).toBeUndefined();
  });

  it('replaces a value that is too long by a marker', () => {
    const values = { 'resource.long': 'x'.repeat(500), 'user.id': 'u' };
    expect(factsOf(reads('resource.long', 'user.id'), scope(values), { maxBytes: 200 })).toEqual({
      'resource.long': NOT_KEPT,
      'user.id': 'u',
    });
  });

  it.each(['a', 'é', '"', '\u0000', '\ud800', '😀', true, null, -Number.MAX_VALUE, [1, 'x'], { a: 'x' }])(
    'stores %j up to the last byte of the limit',
    (value) => {
      const values = { 'resource.é': [value] };
      const bytes = Buffer.byteLength(JSON.stringify({ 'resource.é': [value] }));
      const many = Array.isArray(value) ? value : Array.from({ length: 40 }, () => value);
      expect(factsOf(reads('resource.é'), scope(values), { maxBytes: bytes + 3 })).toEqual(values);
      for (const limit of [50, 100, 200, 400]) {
        const facts = factsOf(reads('resource.many'), scope({ 'resource.many': typeof value === 'string' ? value.repeat(40) : many }), {
          maxBytes: limit,
        });
        expect(Buffer.byteLength(JSON.stringify(facts))).toBeLessThanOrEqual(limit);
      }
    },
  );

  it.each([0, 1, 20, 60, 200, 1000])('stored facts never exceed %i bytes', (limit) => {
    const names = Array.from({ length: 50 }, (_, index) => `resource.${'é'.repeat(index)}`);
    const values = Object.fromEntries(names.map((name, index) => [name, '"'.repeat(index)]));
    const facts = factsOf(reads(...names), scope(values), { maxBytes: limit }) ?? {};
    const { '*': rest, ...kept } = facts;
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(Math.max(2, limit));
    expect(rest).toEqual(NOT_KEPT);
  });
});

describe('readsToExplain', () => {
  /** In order: two priorities of rules, a lower priority of their policy, a lower one of its assignment. Each reads a path of its own. */
  const ranked = [
    [200, 100, 100],
    [100, 100, 100],
    [100, 100, 100],
    [100, 90, 100],
    [100, 90, 80],
  ].map(([priority, policy, assignmentPriority]) => ({
    rule: { priority, policy: { priority: policy } } as unknown as CompiledRule,
    assignmentPriority: assignmentPriority ?? 0,
  }));
  const rules = ranked.map(({ rule }) => rule);
  const read = reads(...rules.map((_, index) => `user.${index}`));
  const applicable: ApplicableRules = { ranked, rules, reads: read, referencePaths: [], countsRelated: false, found: true, validUntil: 0 };
  const kept = (effect: 'allow' | 'deny', fired: number | undefined): readonly PathRead[] => {
    const rule = fired === undefined ? undefined : rules[fired];
    return readsToExplain(applicable, { effect, reason: '', ...(rule && { rule }) } as Decision);
  };

  it.each([
    [0, 1],
    [1, 3],
    [2, 3],
    [3, 4],
    [4, 5],
  ])('returns the paths up to the last rule of the rank of rule %i, which allowed: %i', (fired, count) => {
    expect(kept('allow', fired)).toEqual(read.slice(0, count));
  });

  it('returns all paths if no rule allowed unconditionally', () => {
    expect([kept('deny', 0), kept('deny', undefined)]).toEqual([read, read]);
    expect(readsToExplain(applicable, { effect: 'allow-where', where: ALWAYS, rules: [], reason: '' })).toBe(read);
  });
});

describe('scopeFromFacts', () => {
  const kindOf = ({ text }: Path) => (text === 'resource.title' ? { kind: 'text' as const } : undefined);
  const past = (facts: JsonObject | undefined, given: Partial<AuditEntry> = {}): Scope =>
    scopeFromFacts({ at: '2026-01-31T14:30:00.000Z', action: 'update', facts, ...given } as AuditEntry, {
      definitions: new Map(),
      timeZone: 'Europe/Vienna',
      kindOf,
    });

  it('returns the values of the original scope', () => {
    const read = reads('user.id', 'resource.title', 'user.gone');
    const before = scope({ 'user.id': 'u', 'resource.title': null });
    const after = past(factsOf(read, before, { maxBytes: 1000 }));
    for (const each of read) expect(after.valueOf(each.path)).toBe(before.valueOf(each.path));
    expect([after.now, after.timeZone]).toEqual([Date.UTC(2026, 0, 31, 14, 30), 'Europe/Vienna']);
    expect(after.kindOf(path('resource.title'))).toEqual({ kind: 'text' });
  });

  it('does not treat a value that was not stored as missing', () => {
    const after = past(factsOf(reads('user.a', 'user.b'), scope({ 'user.a': 'x'.repeat(100), 'user.b': 'y' }), { maxBytes: 35 }));
    expect(after.valueOf(path('user.a'))).toEqual(NOT_KEPT);
    expect(after.valueOf(path('user.b'))).toEqual(NOT_KEPT);
  });

  it.each([
    ['list', undefined, UNRESOLVED],
    ['export', undefined, UNRESOLVED],
    ['read', undefined, UNRESOLVED],
    ['read', 'a1', undefined],
    ['create', undefined, undefined],
    ['update', 'a1', undefined],
  ] as const)('keeps the fact whether the record was unknown: %s of %s', (action, recordId, expected) => {
    const after = past({}, { action, recordId });
    expect(after.valueOf(path('resource.title'))).toBe(expected);
    expect(after.valueOf(path('resource.title.inner'))).toBe(expected);
    expect(after.valueOf(path('resource.unknown'))).toBeUndefined();
    expect(after.valueOf(path('user.title'))).toBeUndefined();
  });

  it('reads only own properties of stored facts', () => {
    expect(past({}).valueOf(path('constructor'))).toBeUndefined();
    expect(past(undefined).valueOf(path('user.id'))).toBeUndefined();
  });
});
