import { describe, expect, it } from 'vitest';
import { ORGANISATIONS } from './catalogue.fixture.ts';
import { type RelatedForm, readCondition, writeCondition } from './condition-json.ts';
import { marksIn, mistakesOfForm, otherMistakesAt } from './condition-mistakes.ts';
import { findPath, groupPaths, pathsFor, relatedPathsFor } from './condition-paths.ts';
import { COUNT_KINDS, countKind, isUsableAlias, removeLink, renameLink, usedAliases, withAlias, withCountKind } from './related-edits.ts';
import { linkFields, newRelated, type RelatedPlace, suggestAlias, suggestLinks, withResource } from './related-suggestions.ts';

const MEMBER = { resource: 'Membership', as: 'm', on: { userId: '${user.id}', organisationId: '${resource.organisationId}' } };

function placeOf(resource: string, around: readonly (readonly [alias: string, resource: string])[] = []): RelatedPlace {
  const own = around.flatMap(([alias, name]) => relatedPathsFor(ORGANISATIONS, name, alias));
  const options = [...own, ...pathsFor(ORGANISATIONS, resource)];
  return { catalogue: ORGANISATIONS, resource, options, aliases: around.map(([alias]) => alias) };
}

function formOf(related: object): RelatedForm {
  const form = readCondition({ related });
  if (form.type !== 'related') throw new Error('expected related records');
  return form;
}

describe('paths of related records', () => {
  const options = relatedPathsFor(ORGANISATIONS, 'Membership', 'm');

  it('offers the fields of the related resource and of the records that they refer to, and no secret ones', () => {
    expect(findPath(options, 'm.level')).toMatchObject({ kind: 'text', values: ['owner', 'editor'] });
    expect(findPath(options, 'm.organisationId.plan')).toMatchObject({ values: ['free', 'paid'] });
    expect(findPath(options, 'm.code')).toBeUndefined();
    expect(findPath(options, 'm.name')).toBeUndefined();
  });

  it('lists the paths of the alias before those of the request, the resource first, and paths through references last', () => {
    const groups = groupPaths([...options, ...pathsFor(ORGANISATIONS, 'Document')]).map(({ group }) => group);
    expect(groups).toEqual(['m', 'resource', 'user', 'environment', 'request', 'm, through references', 'resource, through references']);
  });
});

describe('links of related records', () => {
  it('offers the fields that can be compared for equality', () => {
    expect(linkFields(ORGANISATIONS, 'Membership').map(({ path }) => path)).toEqual([
      'id',
      'userId',
      'organisationId',
      'level',
      'createdBy',
    ]);
  });

  it.each([
    ['Membership', 'Document', [], MEMBER.on],
    ['Membership', 'Organisation', [], { userId: '${user.id}', organisationId: '${resource.id}' }],
    ['Membership', '*', [], { userId: '${user.id}', organisationId: '${resource.organisationId}' }],
    ['TeamMember', 'Article', [['t', 'Team']], { userId: '${user.id}' }],
    ['Membership', 'Document', [['t', 'Team']], { userId: '${user.id}', organisationId: '${t.organisationId}' }],
    ['Organisation', 'Article', [], {}],
  ] as const)('suggests how %s is linked with %s within %j', (resource, of, around, links) =>
    expect(suggestLinks(resource, placeOf(of, around))).toEqual(links),
  );

  it('links keep their places when one is changed, and others stay when one is removed', () => {
    const form = formOf(MEMBER);
    expect(Object.keys(renameLink(form, 'userId', 'level').on)).toEqual(['level', 'organisationId']);
    expect(removeLink(form, 'userId').on).toEqual({ organisationId: '${resource.organisationId}' });
  });
});

describe('the resource of related records', () => {
  it('begins with the resource that has the most links, and its alias', () => {
    expect(newRelated(placeOf('Document'))).toEqual({ related: MEMBER });
    expect(newRelated(placeOf('Document', [['m', 'Membership']]))).toMatchObject({ related: { resource: 'Membership', as: 'm2' } });
    const empty = { ...placeOf('User'), catalogue: { ...ORGANISATIONS, definitions: [] } };
    expect(newRelated(empty)).toEqual({ related: { resource: 'User', as: 'u', on: {} } });
  });

  it('another resource keeps the links that it has, and takes its alias along', () => {
    const where = [{ field: 'm.level', operator: 'eq', value: 'owner' }];
    const moved = withResource(formOf({ ...MEMBER, where }), 'TeamMember', placeOf('Document'));
    expect(moved).toMatchObject({ resource: 'TeamMember', as: 'tm', on: { userId: '${user.id}' }, where: [{ field: 'tm.level' }] });
    const named = withResource(formOf({ ...MEMBER, as: 'mine' }), 'TeamMember', placeOf('Document'));
    expect(named.as).toBe('mine');
    expect(withResource(formOf({ ...MEMBER, on: { level: 1 } }), 'Team', placeOf('Document')).on).toEqual({
      organisationId: '${resource.organisationId}',
    });
  });
});

describe('the alias of related records', () => {
  it.each([
    ['Membership', [], 'm'],
    ['Membership', ['m'], 'm2'],
    ['TeamMember', [], 'tm'],
    ['note', [], 'n'],
    ['_', [], 'r'],
    ['R', ['r'], 'r2'],
  ])('%s beside %j is called %s', (resource, others, alias) => expect(suggestAlias(resource, others)).toBe(alias));

  it.each(['', 'M', 'user', 'related', 'constructor', 'a b', 'm', 'a'.repeat(33)])('the name %j cannot be used', (name) =>
    expect(isUsableAlias(name, ['m'])).toBe(false),
  );

  it('renames every path that begins with the alias, and no other', () => {
    const where = [
      { field: 'm.level', operator: 'in', value: ['x', '${m.level}', '${user.m.x}', 'a ${m.level}, ${m.tags}'], note: 'm.level' },
      { field: 'm.level', context: 'resource', operator: 'eq', value: 'm.level' },
      { field: 'mm.level', operator: 'eq', value: '${mm.x}' },
      { not: { anyOf: [{ field: 'user.id', operator: 'eq', value: '${m.userId}' }] } },
      {
        related: { resource: 'Team', as: 't', on: { id: '${m.teamId}' }, where: [{ field: 't.id', operator: 'eq', value: '${m.teamId}' }] },
      },
      { expression: 'm.level' },
    ];
    const json = JSON.stringify(writeCondition(withAlias(formOf({ ...MEMBER, where }), 'mine')));
    expect(JSON.parse(json).related.where).toEqual([
      {
        field: 'mine.level',
        operator: 'in',
        value: ['x', '${mine.level}', '${user.m.x}', 'a ${mine.level}, ${mine.tags}'],
        note: 'm.level',
      },
      where[1],
      where[2],
      { not: { anyOf: [{ field: 'user.id', operator: 'eq', value: '${mine.userId}' }] } },
      {
        related: {
          ...{ resource: 'Team', as: 't', on: { id: '${mine.teamId}' } },
          where: [{ field: 't.id', operator: 'eq', value: '${mine.teamId}' }],
        },
      },
      where[5],
    ]);
    expect(JSON.parse(json).related.on).toEqual(MEMBER.on);
  });

  it('a name that is no alias takes no paths along', () => {
    const where = [{ field: 'user.id', operator: 'eq', value: 'x' }];
    expect(withAlias(formOf({ ...MEMBER, as: 'user', where }), 'm').where).toEqual(where);
  });

  it('cannot be that of records around or within', () => {
    const within = { related: { ...MEMBER, as: 'i' } };
    const where = [{ anyOf: [{ not: within }] }];
    expect(usedAliases(formOf({ ...MEMBER, where }), ['o'])).toEqual(['o', 'i']);
  });
});

describe('the number of related records', () => {
  it.each([
    [{}, 'some'],
    [{ atMost: 0 }, 'none'],
    [{ atLeast: 1 }, 'atLeast'],
    [{ atMost: 2 }, 'atMost'],
    [{ atLeast: 1, atMost: 2 }, 'between'],
  ])('shows %j as %s', (bounds, kind) => expect(countKind(formOf({ ...MEMBER, ...bounds }))).toBe(kind));

  it('every choice is shown as chosen, from every other', () => {
    for (const bounds of [{}, { atMost: 0 }, { atLeast: 4 }, { atMost: 2 }, { atLeast: 2, atMost: 5 }])
      for (const kind of COUNT_KINDS) {
        const { atLeast = 1, atMost = atLeast, ...form } = withCountKind(formOf({ ...MEMBER, ...bounds }), kind);
        expect([kind, countKind(withCountKind(formOf({ ...MEMBER, ...bounds }), kind))]).toEqual([kind, kind]);
        if (kind === 'between') expect(atLeast).toBeLessThanOrEqual(atMost);
        expect(form.resource).toBe('Membership');
      }
  });

  it('keeps the bounds that the choice has', () => {
    expect(withCountKind(formOf({ ...MEMBER, atLeast: 2, atMost: 5 }), 'atLeast')).toMatchObject({ atLeast: 2, atMost: undefined });
    expect(withCountKind(formOf({ ...MEMBER, atMost: 5 }), 'between')).toMatchObject({ atLeast: 1, atMost: 5 });
  });
});

describe('mistakes of members without a field', () => {
  const issue = (path: string) => ({ path, detail: path, code: 'unknown' });

  it('are shown at their condition, and others at their fields', () => {
    const issues = ['a', 'a.from', 'a.on.x', 'ab.from', 'b'].map(issue);
    expect(otherMistakesAt(issues, 'a', ['on'])).toBe('a; a.from');
    expect(otherMistakesAt(issues, 'a.on', [])).toBe('a.on.x');
    expect(otherMistakesAt([issue('a.on')], 'a', ['on'])).toBeUndefined();
  });

  it.each<[string, unknown, string | undefined]>([
    ['value', { field: 'user.id', operator: 'eq', value: 1 }, undefined],
    ['value.1', { field: 'user.id', operator: 'in', value: ['a', 1] }, undefined],
    ['ifExist', { field: 'user.id', operator: 'eq', value: 1, ifExist: true }, 'a.ifExist'],
    ['value', { expression: 'true', value: 1 }, 'a.value'],
    ['expression', { expression: 'tru' }, undefined],
    ['value', { field: 'user.id', anyOf: [], value: 1 }, 'a.value'],
    ['anyOf.0.value', { field: 'user.id', anyOf: [] }, 'a.anyOf.0.value'],
    ['allOf.0.value', { allOf: [{}] }, undefined],
  ])('the mistake of %s of %j is shown there: %s', (member, condition, shown) => {
    expect(mistakesOfForm([issue(`a.${member}`)], 'a', readCondition(condition))).toBe(shown);
  });

  it('of a part of an expression are marked in its text', () => {
    const [part, whole] = [{ ...issue('a.expression'), range: { start: 2, end: 5 } }, issue('a.expression')];
    expect(marksIn([part, whole, { ...part, path: 'b.expression' }], 'a.expression')).toEqual([
      { from: 2, to: 5, message: 'a.expression', severity: 'error' },
    ]);
  });
});
