import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { type PathNames, renamePaths, storedPaths, storedRelatedPaths } from './rename-paths.ts';

/** Renames the field `title` of the record to `headline`, and for members `userId` to `personId`; and the resource Member to Membership. */
const rename: PathNames = {
  renamePath({ group, keys: [first = '', ...inner] }, related) {
    if (group !== 'resource') return undefined;
    const [from, to] = related === 'Member' ? ['userId', 'personId'] : ['title', 'headline'];
    return first === from ? [to, ...inner] : undefined;
  },
  renameResource: (name) => (name === 'Member' ? 'Membership' : name),
};

describe('renamePaths', () => {
  const cases: readonly [string, JsonObject, JsonObject][] = [
    ['a field', { field: 'resource.title', operator: 'eq', value: 'x' }, { field: 'resource.headline', operator: 'eq', value: 'x' }],
    [
      'a field without its group',
      { field: 'title', context: 'resource', operator: 'exists', value: true },
      { field: 'headline', context: 'resource', operator: 'exists', value: true },
    ],
    [
      'a path below a renamed field',
      { field: 'resource.title.en', operator: 'eq', value: 1 },
      { field: 'resource.headline.en', operator: 'eq', value: 1 },
    ],
    [
      'references in values',
      { field: 'user.id', operator: 'in', value: ['${resource.title}', 'a ${resource.title} b ${user.id}', 3] },
      { field: 'user.id', operator: 'in', value: ['${resource.headline}', 'a ${resource.headline} b ${user.id}', 3] },
    ],
    [
      'conditions in groups',
      { anyOf: [{ not: { field: 'resource.title', operator: 'isNull' } }, { allOf: [{ field: 'resource.title', operator: 'isNull' }] }] },
      {
        anyOf: [
          { not: { field: 'resource.headline', operator: 'isNull' } },
          { allOf: [{ field: 'resource.headline', operator: 'isNull' }] },
        ],
      },
    ],
    [
      'conditions on related records',
      {
        related: {
          resource: 'Member',
          as: 'm',
          on: { userId: '${user.id}', title: '${resource.title}' },
          where: [{ field: 'm.userId.title', operator: 'eq', value: '${resource.title} ${m.title}' }],
          atLeast: 2,
        },
      },
      {
        related: {
          resource: 'Membership',
          as: 'm',
          on: { personId: '${user.id}', title: '${resource.headline}' },
          where: [{ field: 'm.personId.title', operator: 'eq', value: '${resource.headline} ${m.title}' }],
          atLeast: 2,
        },
      },
    ],
  ];
  it.each(cases)('renames paths in conditions: %s', (_, before, after) => {
    expect(renamePaths([before], rename)).toEqual({ conditions: [after], changed: true, expressions: [] });
  });

  it.each<JsonObject>([
    { field: 'user.title', operator: 'eq', value: 'resource.title' },
    { field: 'resource.titles', operator: 'eq', value: '${resource.titles}' },
    { field: 'resource.name', operator: 'eq', value: 'title' },
  ])('does not change the condition %j', (condition) => {
    expect(renamePaths([condition], rename)).toEqual({ conditions: [condition], changed: false, expressions: [] });
  });

  it('lists expressions that read a renamed path, and does not change them', () => {
    const conditions = [{ expression: 'resource.title == "x"' }, { expression: 'resource.other == "title"' }];
    expect(renamePaths(conditions, rename)).toEqual({ conditions, changed: false, expressions: ['resource.title == "x"'] });
  });
});

describe('storedPaths', () => {
  it('returns the paths of fields, values, groups and expressions', () => {
    const paths = storedPaths([
      { field: 'title', context: 'resource', operator: 'eq', value: '${user.id}' },
      { not: { expression: 'resource.open || environment.hour > 3' } },
    ]);
    expect(paths.map(({ text }) => text)).toEqual(['resource.title', 'user.id', 'resource.open', 'environment.hour']);
  });

  it('storedRelatedPaths returns the paths of related records, with their resource', () => {
    const inner = { related: { resource: 'Role', as: 'r', on: { id: '${m.roleId}' } } };
    const member = { related: { resource: 'Member', as: 'm', on: { userId: '${user.id}' }, where: [inner] } };
    expect(storedRelatedPaths([{ not: member }])).toEqual([
      { resource: 'Member', keys: ['userId'] },
      { resource: 'Member', keys: ['roleId'] },
      { resource: 'Role', keys: ['id'] },
    ]);
  });
});
