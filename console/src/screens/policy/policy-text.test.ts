import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignMembers, inDecisionOrder, isSame, rulesOf, toChange, toDraft } from './policy-draft.ts';
import { locateMember, parsePolicy, printPolicy } from './policy-text.ts';

const draft = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }).map((json) => JSON.parse(JSON.stringify(json)));

describe('drafts as text', () => {
  it.each(['json', 'yaml'] as const)('every draft survives its text in %s', (format) => {
    fc.assert(
      fc.property(draft, (json) => {
        expect(parsePolicy(printPolicy(json, format), format)).toEqual({ draft: json });
      }),
    );
  });

  it.each([
    ['json', '{ "name": }'],
    ['json', '[1]'],
    ['json', '{ "name": "a", "name": "b" }'],
    ['json', ''],
    ['yaml', 'name: [a'],
    ['yaml', '- a'],
    ['yaml', 'name: a\nname: b'],
    ['yaml', `a: &a [${'x,'.repeat(200)}]\nb: [${'*a,'.repeat(200)}]`],
  ] as const)('finds the mistake in the %s text %j', (format, text) => expect(parsePolicy(text, format)).toHaveProperty('mistake'));

  it.each(['json', 'yaml'] as const)('finds members in the %s text', (format) => {
    const text = printPolicy({ name: 'x', rules: [{ action: 'read', conditions: [{ field: 'user.id', value: [1, 2] }] }] }, format);
    const at = (path: string) => {
      const { from, to } = locateMember(text, path);
      return text.slice(from, to);
    };
    expect(at('rules.0.conditions.0.field')).toMatch(/^"?user\.id"?$/);
    expect(at('rules.0.conditions.0.value')).toMatch(/^"?value"?$/);
    expect(at('rules.0.conditions.0.operator')).toContain('field');
    expect(at('rules.0.conditions.0.value.1')).toBe('2');
  });
});

describe('drafts', () => {
  it('leaves out the members that the service sets, and keeps unknown ones', () => {
    const policy = { id: '1', version: 3, createdAt: '', createdBy: '', updatedAt: '', name: 'x', note: 1 };
    const stored = { ...policy, rules: [{ id: '2', policyId: '1', createdAt: '', action: 'read', odd: true }, 7] };
    expect(toDraft(stored)).toEqual({ name: 'x', note: 1, rules: [{ id: '2', action: 'read', odd: true }, 7] });
    expect(toChange({ name: 'x' })).toEqual({ name: 'x', description: null, tags: [] });
    expect(rulesOf({ rules: 'x' })).toBeUndefined();
  });

  it('sorts rules as decisions do', () => {
    const rules = [
      { id: 'b', description: 'second' },
      { description: 'new' },
      { id: 'c', effect: 'DENY', description: 'denies' },
      { id: 'a', description: 'first' },
      { id: 'd', priority: 200, description: 'high' },
      'odd',
    ];
    const names = inDecisionOrder(rules).map(({ rule }) =>
      typeof rule === 'string' ? rule : (rule as { description: string }).description,
    );
    expect(names).toEqual(['high', 'denies', 'first', 'second', 'new', 'odd']);
  });

  it('takes the order of members and rules from another draft, and changes nothing else', () => {
    const model = { name: 'x', rules: [{ id: '1', action: 'read', effect: 'DENY' }, { id: '2' }], tags: [] };
    const json = { tags: ['t'], note: 1, rules: [{ effect: 'ALLOW', id: '1', action: 'list' }, { action: 'new' }], name: 'y' };
    const aligned = alignMembers(json, model);
    expect(aligned).toEqual(json);
    expect(JSON.stringify(aligned)).toBe(
      '{"name":"y","rules":[{"id":"1","action":"list","effect":"ALLOW"},{"action":"new"}],"tags":["t"],"note":1}',
    );
  });

  it('compares drafts without the order of members', () => {
    expect(isSame({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1, d: undefined })).toBe(true);
    expect(isSame({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
    expect(isSame({ a: {} }, { a: [] })).toBe(false);
  });
});
