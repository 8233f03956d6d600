import { describe, expect, it } from 'vitest';
import { OPEN, type Path, type Scope } from '../condition/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { CompiledRule } from '../policy/index.ts';
import type { Entry } from './entry.ts';
import { factsOf, scopeFromFacts } from './facts.ts';

function path(text: string): Path {
  const [group, ...keys] = text.split('.');
  return { group: group as Path['group'], keys, text };
}

const rule = (...texts: readonly string[]): CompiledRule => ({ paths: texts.map(path) }) as unknown as CompiledRule;

function scope(values: Readonly<Record<string, Json | typeof OPEN>>): Scope {
  return { now: 0, timeZone: 'UTC', kindOf: () => undefined, valueOf: ({ text }) => values[text] };
}

const NOT_KEPT = { notKept: true };

describe('factsOf', () => {
  it('keeps what conditions read, each path once, and nothing that is missing or open', () => {
    const rules = [rule('user.id', 'resource.a'), rule('user.id', 'user.gone', 'resource.b')];
    const facts = factsOf(rules, scope({ 'user.id': 'u', 'resource.a': null, 'resource.b': OPEN, 'user.unread': 1 }), 1000);
    expect(facts).toEqual({ 'user.id': 'u', 'resource.a': null });
  });

  it('is nothing where nothing was read', () => {
    expect(factsOf([], scope({}), 1000)).toBeUndefined();
    expect(factsOf([rule('user.id')], scope({}), 1000)).toBeUndefined();
  });

  it('leaves out a value that is too long, and says so', () => {
    const values = { 'resource.long': 'x'.repeat(500), 'user.id': 'u' };
    expect(factsOf([rule('resource.long', 'user.id')], scope(values), 200)).toEqual({ 'resource.long': NOT_KEPT, 'user.id': 'u' });
  });

  it.each([0, 1, 20, 60, 200, 1000])('keeps within %i bytes, whatever is read', (limit) => {
    const names = Array.from({ length: 50 }, (_, index) => `resource.${'é'.repeat(index)}`);
    const values = Object.fromEntries(names.map((name, index) => [name, '"'.repeat(index)]));
    const facts = factsOf([rule(...names)], scope(values), limit) ?? {};
    const { '*': rest, ...kept } = facts;
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(Math.max(2, limit));
    expect(rest).toEqual(NOT_KEPT);
  });
});

describe('scopeFromFacts', () => {
  const kindOf = ({ text }: Path) => (text === 'resource.title' ? { kind: 'text' as const } : undefined);
  const past = (facts: JsonObject | undefined, given: Partial<Entry> = {}): Scope =>
    scopeFromFacts({ at: '2026-01-31T14:30:00.000Z', action: 'update', facts, ...given } as Entry, { timeZone: 'Europe/Vienna', kindOf });

  it('answers as the scope did', () => {
    const rules = [rule('user.id', 'resource.title', 'user.gone')];
    const before = scope({ 'user.id': 'u', 'resource.title': null });
    const after = past(factsOf(rules, before, 1000));
    for (const each of rules[0]?.paths ?? []) expect(after.valueOf(each)).toBe(before.valueOf(each));
    expect([after.now, after.timeZone]).toEqual([Date.UTC(2026, 0, 31, 14, 30), 'Europe/Vienna']);
    expect(after.kindOf(path('resource.title'))).toEqual({ kind: 'text' });
  });

  it('never takes what was not kept for missing', () => {
    const after = past(factsOf([rule('user.a', 'user.b')], scope({ 'user.a': 'x'.repeat(100), 'user.b': 'y' }), 35));
    expect(after.valueOf(path('user.a'))).toEqual(NOT_KEPT);
    expect(after.valueOf(path('user.b'))).toEqual(NOT_KEPT);
  });

  it.each([
    ['list', undefined, OPEN],
    ['export', undefined, OPEN],
    ['read', undefined, OPEN],
    ['read', 'a1', undefined],
    ['create', undefined, undefined],
    ['update', 'a1', undefined],
  ] as const)('knows whether the record was open: %s of %s', (action, recordId, expected) => {
    const after = past({}, { action, recordId });
    expect(after.valueOf(path('resource.title'))).toBe(expected);
    expect(after.valueOf(path('resource.title.inner'))).toBe(expected);
    expect(after.valueOf(path('resource.unknown'))).toBeUndefined();
    expect(after.valueOf(path('user.title'))).toBeUndefined();
  });

  it('looks up own facts only', () => {
    expect(past({}).valueOf(path('constructor'))).toBeUndefined();
    expect(past(undefined).valueOf(path('user.id'))).toBeUndefined();
  });
});
