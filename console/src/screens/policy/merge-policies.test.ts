import { describe, expect, it } from 'vitest';
import { mergePolicies } from './merge-policies.ts';

const rule = (id: string, members: object = {}) => ({ id, resource: 'Article', action: 'read', ...members });
const base = { name: 'Editors', priority: 100, rules: [rule('1'), rule('2'), rule('3')] };

describe('mergePolicies', () => {
  it('takes over changes of members and rules that only one side has changed', () => {
    const mine = { ...base, priority: 7, rules: [rule('1', { action: 'update' }), rule('2'), { resource: 'Tip', action: 'list' }] };
    const theirs = { ...base, name: 'Desk', rules: [rule('1'), rule('2', { effect: 'DENY' }), rule('3'), rule('4')] };
    const { conflicts, takenOver, resolve } = mergePolicies({ base, mine, theirs });
    expect(conflicts).toEqual([]);
    expect(takenOver).toBe(3);
    expect(resolve(new Map())).toEqual({
      name: 'Desk',
      priority: 7,
      rules: [rule('1', { action: 'update' }), rule('2', { effect: 'DENY' }), rule('4'), { resource: 'Tip', action: 'list' }],
    });
  });

  it('asks about what both sides have changed, and keeps my version until theirs is chosen', () => {
    const mine = { ...base, name: 'Mine', rules: [rule('1', { priority: 1 }), rule('2')] };
    const theirs = { ...base, name: 'Theirs', rules: [rule('1', { priority: 2 }), rule('2'), rule('3', { priority: 9 })] };
    const { conflicts, resolve } = mergePolicies({ base, mine, theirs });
    expect(conflicts.map(({ key }) => key)).toEqual(['name', 'rule 1', 'rule 3']);
    expect(resolve(new Map())).toEqual(mine);
    const chosen = new Map(conflicts.map(({ key }) => [key, 'theirs' as const]));
    expect(resolve(chosen)).toEqual(theirs);
  });

  it('keeps a removal that the other side did not touch, and takes over theirs', () => {
    const mine = { ...base, rules: [rule('2'), rule('3')] };
    const theirs = { ...base, rules: [rule('1'), rule('2')] };
    const { conflicts, resolve } = mergePolicies({ base, mine, theirs });
    expect(conflicts).toEqual([]);
    expect(resolve(new Map())['rules']).toEqual([rule('2')]);
  });

  it('finds no conflict if both made the same change', () => {
    const changed = { ...base, name: 'Desk' };
    expect(mergePolicies({ base, mine: changed, theirs: changed }).conflicts).toEqual([]);
  });
});
