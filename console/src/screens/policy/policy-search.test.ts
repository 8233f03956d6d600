import { describe, expect, it } from 'vitest';
import { memberPathOf, parseAssignee, validatePolicySearch } from './policy-search.ts';

describe('validatePolicySearch', () => {
  it('keeps the tab, the member and the rule of an address, and drops other values', () => {
    expect(validatePolicySearch({ tab: 'history', rule: 'r1', at: 'name', template: 't', other: 1 })).toEqual({
      ...{ tab: 'history', rule: 'r1', at: 'name', template: 't' },
    });
    expect(validatePolicySearch({ tab: 'unknown', rule: 7 })).toEqual({});
  });

  it('keeps the dialog of assignments and the comparison of the history in their tabs only', () => {
    const opened = { assign: true, compare: true };
    expect(validatePolicySearch({ tab: 'assignments', ...opened })).toEqual({ tab: 'assignments', assign: true });
    expect(validatePolicySearch({ tab: 'history', ...opened })).toEqual({ tab: 'history', compare: true });
    expect(validatePolicySearch({ tab: 'rules', ...opened })).toEqual({ tab: 'rules' });
  });

  it('keeps the question of the preview in its tab only', () => {
    const preview = { tab: 'preview', range: '24h', fill: true };
    expect(validatePolicySearch(preview)).toEqual(preview);
    expect(validatePolicySearch({ ...preview, tab: 'rules' })).toEqual({ tab: 'rules' });
    expect(validatePolicySearch({ tab: 'preview', range: '1h', fill: 'yes' })).toEqual({ tab: 'preview' });
  });
});

describe('parseAssignee', () => {
  it.each([
    ['role:editor', { role: 'editor' }],
    ['user:u:1', { userId: 'u:1' }],
    ['role:', undefined],
    ['group:x', undefined],
    [undefined, undefined],
  ])('reads %s as %j', (text, assignee) => {
    expect(parseAssignee(text)).toEqual(assignee);
    expect(validatePolicySearch({ assumed: text })).toEqual(assignee === undefined ? {} : { assumed: text });
  });
});

describe('memberPathOf', () => {
  const rules = [{ id: 'r1' }, 'not a rule', { id: 'r2' }];
  it.each([
    [{ rule: 'r2' }, 'rules.2'],
    [{ rule: 'removed' }, undefined],
    [{ at: 'rules.0.conditions.1', rule: 'r2' }, 'rules.0.conditions.1'],
    [{}, undefined],
  ])('returns the path of the member that %j names: %s', (search, path) => {
    expect(memberPathOf(search, rules)).toBe(path);
  });
});
