import { describe, expect, it } from 'vitest';
import { comparePermissions, type Permission, resourcesOf } from './permission-changes.ts';

const permission = (action: Permission['action'], effect: Permission['effect'], more: Partial<Permission> = {}): Permission => ({
  ...{ resource: 'Article', action, effect, reason: `${effect} ${action}` },
  ...more,
});

describe('comparePermissions', () => {
  const actionsOf = (before: readonly Permission[], after: readonly Permission[]) => {
    const { denied, allowed, conditional } = comparePermissions(before, after);
    return [denied, allowed, conditional].map((changes) => changes.map((change) => change.before.action));
  };

  it.each<[Permission['effect'], Permission['effect'], readonly (readonly string[])[]]>([
    ['allow', 'allow', [[], [], []]],
    ['deny', 'deny', [[], [], []]],
    ['allow', 'deny', [['read'], [], []]],
    ['conditional', 'deny', [['read'], [], []]],
    ['deny', 'allow', [[], ['read'], []]],
    ['deny', 'conditional', [[], ['read'], []]],
    ['allow', 'conditional', [[], [], ['read']]],
    ['conditional', 'allow', [[], [], ['read']]],
  ])('%s before and %s after', (before, after, expected) => {
    expect(actionsOf([permission('read', before)], [permission('read', after)])).toEqual(expected);
  });

  it('finds other conditions, and ignores another rule with the same effect', () => {
    const before = [permission('list', 'conditional', { when: 'a' }), permission('read', 'allow', { reason: 'rule one' })];
    const after = [permission('list', 'conditional', { when: 'b' }), permission('read', 'allow', { reason: 'rule two' })];
    expect(actionsOf(before, after)).toEqual([[], [], ['list']]);
  });

  it('tells resources with the same action apart', () => {
    const tip = (effect: Permission['effect']) => permission('read', effect, { resource: 'Tip' });
    const { denied } = comparePermissions([permission('read', 'allow'), tip('allow')], [tip('deny'), permission('read', 'allow')]);
    expect(denied.map(({ after }) => after.resource)).toEqual(['Tip']);
  });
});

describe('resourcesOf', () => {
  it('returns each resource once, and undefined for all resources', () => {
    expect(resourcesOf([{ resource: 'A' }, { resource: 'B' }, { resource: 'A' }])).toEqual(['A', 'B']);
    expect(resourcesOf([{ resource: 'A' }, { resource: '*' }])).toBeUndefined();
    expect(resourcesOf([{ resource: 'A' }, 'text'])).toBeUndefined();
  });
});
