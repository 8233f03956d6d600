import { describe, expect, it } from 'vitest';
import { LIMITS, policyOf, stateOf } from '../../../test/policy-fixtures.ts';
import type { JsonObject } from '../../operators/index.ts';
import { define } from '../../storage/storage.fixture.ts';
import { changePolicies, compilePolicies } from './policy-snapshot.ts';
import { jsonMayReadOthers } from './watched-records.ts';

const to = (name: string) => ({ type: 'reference', to: name });
const definitions = define({
  Organisation: { fields: { name: { type: 'string' }, ownerId: to('User') } },
  Project: { fields: { organisationId: to('Organisation') } },
  Task: { fields: { projectId: to('Project'), title: { type: 'string' }, teamIds: { type: 'list', of: to('Team') } } },
  Team: { fields: { name: { type: 'string' }, leadId: to('User') } },
  Folder: { fields: { parentId: { ...to('Folder'), hierarchy: true } } },
  File: { fields: { folderId: to('Folder') } },
  Membership: { fields: { userId: to('User'), organisationId: to('Organisation'), level: { type: 'string' } } },
});

function watchOf(conditions: readonly JsonObject[], resource = 'Task'): object {
  const policy = policyOf('p', [{ id: 'r', resource, conditions }], { type: 'CUSTOM' });
  const { watch } = compilePolicies(stateOf({ policies: [policy] }), definitions, LIMITS);
  if (watch.size > 0) expect(jsonMayReadOthers(JSON.stringify(conditions))).toBe(true);
  return Object.fromEntries(watch);
}

const referenced = { links: [], isReferenced: true };
const member = (more: JsonObject = {}): JsonObject => ({
  related: {
    resource: 'Membership',
    as: 'm',
    on: { userId: '${user.id}', organisationId: '${resource.projectId.organisationId}' },
    ...more,
  },
});

describe('the records that rules read', () => {
  it.each<[string, readonly JsonObject[], object]>([
    ['conditions on the record and the user', [{ field: 'resource.title', operator: 'eq', value: '${user.name}' }], {}],
    ['a path through a reference', [{ field: 'resource.projectId.organisationId', operator: 'eq', value: 'x' }], { Project: referenced }],
    [
      'a path in a value, of a field with a context',
      [{ context: 'resource', field: 'projectId.organisationId.name', operator: 'eq', value: 'x' }],
      { Project: referenced, Organisation: referenced },
    ],
    [
      'a path through a list of references',
      [{ field: 'resource.teamIds.leadId.name', operator: 'eq', value: 'x' }],
      { Team: referenced, User: referenced },
    ],
    ['an expression through a list', [{ expression: 'resource.teamIds.name == "x"' }], { Team: referenced }],
    ['an expression', [{ expression: 'resource.projectId.organisationId == user.id' }], { Project: referenced }],
    ['an expression with parentheses', [{ expression: '(resource.projectId ).organisationId == user.id' }], { Project: referenced }],
    ['an expression with an index', [{ expression: 'resource["projectId"]["organisationId"] == user.id' }], { Project: referenced }],
    [
      'related records within groups',
      [{ not: { anyOf: [member(), { field: 'resource.title', operator: 'isNull' }] } }],
      { Membership: { links: [['organisationId', 'userId']], isReferenced: false }, Project: referenced },
    ],
    [
      'related records within others, and their references',
      [
        {
          related: {
            resource: 'Organisation',
            as: 'o',
            on: { ownerId: '${user.id}' },
            where: [
              { related: { resource: 'Membership', as: 'm', on: { organisationId: '${o.id}' } } },
              { field: 'o.ownerId.name', operator: 'eq', value: 'x' },
            ],
          },
        },
      ],
      {
        Organisation: { links: [['ownerId']], isReferenced: false },
        Membership: { links: [['organisationId']], isReferenced: false },
        User: referenced,
      },
    ],
  ])('finds those of %s', (_, conditions, expected) => {
    expect(watchOf(conditions)).toEqual(expected);
  });

  it.each([
    ['a comparison', { field: 'resource.folderId', operator: 'within', value: ['f1'] }],
    ['an expression', { expression: 'resource.folderId.within(["f1"])' }],
  ])('finds the ancestors that %s reads', (_, condition) => {
    expect(watchOf([condition], 'File')).toEqual({ Folder: referenced });
  });

  it('finds the references of every resource in a rule about all of them', () => {
    expect(watchOf([{ field: 'resource.organisationId.name', operator: 'eq', value: 'x' }], '*')).toEqual({ Organisation: referenced });
  });

  it.each([
    ['no conditions', '[]', false],
    ['a condition on the record', '[{"field":"resource.title","operator":"eq","value":"${user.name}"}]', false],
    ['an expression', '[{"expression":"user.level > 1.5"}]', false],
    ['an escaped path', String.raw`[{"field":"resource.projectId\u002eorganisationId","operator":"exists"}]`, true],
    ['a context', '[{"context":"resource","field":"projectId.organisationId","operator":"exists"}]', true],
    ['a group', '[{"anyOf":[{"field":"resource.title","operator":"exists"}]}]', true],
  ])('tells without parsing if conditions may read other records: %s', (_, conditions, expected) => {
    expect(jsonMayReadOthers(conditions)).toBe(expected);
  });

  it('follows the changes of policies', () => {
    const withRule = policyOf('p', [{ id: 'r', resource: 'Task', conditions: [member()] }]);
    const other = policyOf('q', [{ id: 's', resource: 'Task', conditions: [member()] }]);
    const none = compilePolicies(stateOf({}), definitions, LIMITS);
    const change = (before: typeof none, policies: readonly (readonly [string, typeof withRule | undefined])[]) =>
      changePolicies(before, { revision: before.revision + 1, policies: new Map(policies), rolePolicies: new Map() } as never);
    const both = change(none, [
      ['p', withRule],
      ['q', other],
    ]);
    const one = change(both, [['p', undefined]]);
    const names = [none, both, one, change(one, [['q', { ...other, isActive: false }]])].map(({ watch }) => [...watch.keys()].toSorted());
    expect(names).toEqual([[], ['Membership', 'Project'], ['Membership', 'Project'], []]);
  });
});
