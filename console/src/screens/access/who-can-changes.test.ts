import { describe, expect, it } from 'vitest';
import { compareRoles, compareUsers } from './who-can-changes.ts';

const possible = (key: string, effect: 'allow' | 'conditional' = 'allow', when?: string) => ({
  ...{ id: key, role: key, effect, policy: { id: 'p', name: 'P' }, rule: { id: 'r' } },
  ...(when !== undefined && { when }),
});

describe('compareRoles', () => {
  it('names the roles that a draft denies, allows, or allows under another condition', () => {
    const live = [possible('admin'), possible('editor'), possible('user', 'conditional', 'a')];
    const drafted = [possible('admin'), possible('user', 'conditional', 'b'), possible('anon')];
    expect(
      compareRoles(live, drafted).map(({ key, isChanged, live: before, drafted: after }) => [key, isChanged, !!before, !!after]),
    ).toEqual([
      ['admin', false, true, true],
      ['editor', true, true, false],
      ['user', true, true, true],
      ['anon', true, false, true],
    ]);
  });
});

describe('compareUsers', () => {
  const listed = (ids: string, isComplete: boolean) => ({ items: [...ids].map((id) => possible(id)), isComplete });
  const keys = (live: [string, boolean], drafted: [string, boolean]) =>
    compareUsers({ live: listed(...live), drafted: listed(...drafted) })
      .map(({ key, isChanged }) => `${key}${isChanged ? '!' : ''}`)
      .join(' ');

  it.each<[[string, boolean], [string, boolean], string]>([
    [['abd', true], ['bcd', true], 'a! b c! d'],
    // The next page of the answer under the draft may list d.
    [['abd', true], ['bc', false], 'a! b c!'],
    [['ab', false], ['bcd', false], 'a! b'],
    [['', false], ['bcd', true], ''],
  ])('lists the users of %j and %j up to the last one that both have reached', (live, drafted, expected) => {
    expect(keys(live, drafted)).toBe(expected);
  });
});
