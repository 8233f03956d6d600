/** Cases of paths through lists of references and of records that are related to each other, with the ids that must be listed. */
import type { JsonObject } from '../../src/operators/index.ts';
import { allow, deny, everything, type Regression, when } from './regressions.ts';

/** Ann's department is "a", Bob's "AB", Cid has none, and `u-gone` does not exist. */
const ROWS: Readonly<Record<string, JsonObject>> = {
  found: { friendIds: ['u-bob', 'u-ann'], label: 'a' },
  other: { friendIds: ['u-bob', 'u-bob'], label: 'a' },
  unknown: { friendIds: ['u-bob', 'u-cid'] },
  lost: { friendIds: ['u-bob', 'u-gone'] },
  foundAndLost: { friendIds: ['u-gone', 'u-ann'] },
  none: { friendIds: [] },
  missing: {},
};
const is = (field: string, operator: string, value: JsonObject[string]): JsonObject => ({ field, operator, value });
const inA = is('resource.friendIds.department', 'eq', 'a');
const some = (count: number): readonly string[] => Array.from({ length: count }, () => 'u-ann');
/** The departments of Ann's mentors are "AB" and "%". */
const startsWithLabel = is('user.mentorIds.department', 'startsWith', '${resource.label}');
const LABELS: Readonly<Record<string, JsonObject>> = { starts: { label: 'A' }, other: { label: 'x' }, none: {} };
const sameLabel = { resource: 'Thing', as: 't', on: { label: '${resource.label}' } };
const PAIRS: Readonly<Record<string, JsonObject>> = { alone: { label: 'a' }, one: { label: 'b' }, other: { label: 'b' }, missing: {} };

/** One search finds the users whom the caller manages. Cid manages Bob. */
const managed = (bounds: JsonObject): JsonObject => ({
  related: { resource: 'User', as: 'u', on: { managerId: '${user.id}', id: '${resource.ownerId}' }, ...bounds },
});
const OWNED: Readonly<Record<string, JsonObject>> = {
  managed: { ownerId: 'u-bob' },
  other: { ownerId: 'u-dan' },
  gone: { ownerId: 'u-gone', label: 'a' },
  missing: { label: 'a' },
};

export const LIST_REGRESSIONS: readonly Regression[] = [
  when('a path through a list holds for some item', [allow(inA)], ['found', 'foundAndLost'], { rows: ROWS }),
  when('no path through a list holds: false only if every record has another value', [allow({ not: inA })], ['other', 'none'], {
    rows: ROWS,
  }),
  when('a path through a list denies where it may hold', [everything, deny(inA)], ['other', 'none'], { rows: ROWS }),
  when(
    'every record of a list, by a double negation',
    [allow({ not: is('resource.friendIds.department', 'ne', 'AB') })],
    ['other', 'none'],
    { rows: ROWS },
  ),
  when(
    'some record with another value is not the negation',
    [allow(is('resource.friendIds.department', 'ne', 'a'))],
    ['found', 'other', 'unknown', 'lost'],
    { rows: ROWS },
  ),
  when(
    'ifExists makes a record without the value false',
    [everything, deny({ ...inA, ifExists: true })],
    [...['other', 'unknown', 'lost', 'none', 'missing']],
    { rows: ROWS },
  ),
  when(
    'exists holds if some record has a value',
    [allow(is('resource.friendIds.department', 'exists', true))],
    [...['found', 'other', 'unknown', 'lost', 'foundAndLost']],
    { rows: ROWS },
  ),
  when(
    'exists false holds for an item without a record, and for a missing list, not for an empty one',
    [allow(is('resource.friendIds.department', 'exists', false))],
    ['unknown', 'lost', 'foundAndLost', 'missing'],
    { rows: ROWS },
  ),
  when('both sides read the same record', [allow(is('resource.friendIds.id', 'eq', '${resource.friendIds.managerId}'))], [], {
    rows: { pair: { friendIds: ['u-ann', 'u-bob'] } },
  }),
  when('different lists are combined', [allow(is('resource.friendIds.id', 'eq', '${user.mentorIds.managerId}'))], ['cid'], {
    rows: { cid: { friendIds: ['u-dan', 'u-cid'] }, dan: { friendIds: ['u-dan'] }, none: { friendIds: [] } },
  }),
  when('a list of as many items as are read', [allow(inA)], ['most'], {
    rows: { most: { friendIds: [...some(25)] }, more: { friendIds: [...some(26)] } },
  }),
  when('a list of more items is not false either', [allow({ not: is('resource.friendIds.department', 'eq', 'x') })], ['most'], {
    rows: { most: { friendIds: [...some(25)] }, more: { friendIds: [...some(26)] } },
  }),
  when('a list of a list', [allow(is('resource.friendIds.mentorIds.department', 'eq', 'AB'))], ['ann'], {
    rows: { ann: { friendIds: ['u-cid', 'u-ann'] }, bob: { friendIds: ['u-bob'] }, eve: { friendIds: ['u-eve'] } },
  }),
  when(
    'a list of the caller, with a field of the record on the other side',
    [allow(is('user.mentorIds.department', 'eq', '${resource.label}'))],
    ['bob', 'eve'],
    {
      rows: { bob: { label: 'AB' }, eve: { label: '%' }, ann: { label: 'a' }, none: {} },
    },
  ),
  // No operator has these sides exchanged, so the database cannot compare the record with the values of the caller.
  when('the text of a field of the record in those of a list of the caller', [allow(startsWithLabel)], ['starts'], { rows: LABELS }),
  when('a DENY on a field of the record in those of a list of the caller', [everything, deny(startsWithLabel)], ['other'], {
    rows: LABELS,
  }),
  when(
    'a DENY with ifExists on a field of the record in those of a list of the caller',
    [everything, deny({ ...startsWithLabel, ifExists: true })],
    ['other'],
    { rows: LABELS },
  ),
  when(
    'text of the record that is in no value of the records of a list of the caller',
    [allow(is('user.mentorIds.department', 'incontains', '${resource.title}'))],
    ['in', 'other'],
    {
      rows: { in: { title: 'b' }, other: { title: 'z' }, none: {} },
    },
  ),
  when(
    'records of a list below a record of a hierarchy',
    [{ ...allow(is('resource.partIds.upId', 'within', 'top')), resource: 'Thing' }],
    ['above'],
    {
      rows: {
        ...{ top: {}, child: { upId: 'top' }, leaf: { upId: 'child' } },
        ...{ above: { partIds: ['top', 'leaf'] }, aside: { partIds: ['top'] }, lost: { partIds: ['absent'] } },
      },
    },
  ),
  ...(
    [
      ['at least one', {}, ['managed'], ['other', 'gone']],
      ['at least two', { atLeast: 2 }, [], ['managed', 'other', 'gone']],
      ['none', { atMost: 0 }, ['other', 'gone'], ['managed']],
      ['one at most', { atMost: 1 }, ['managed', 'other', 'gone'], []],
    ] as const
  ).flatMap(([bound, bounds, met, unmet]) => [
    when(`the owner is managed by the caller: ${bound}`, [allow(managed(bounds))], met, { who: 'cid', rows: OWNED }),
    when(`the owner is managed by the caller: not ${bound}`, [allow({ not: managed(bounds) })], unmet, { who: 'cid', rows: OWNED }),
  ]),
  when('a caller who manages none', [allow({ anyOf: [is('resource.label', 'eq', 'a'), managed({})] })], ['gone', 'missing'], {
    rows: OWNED,
  }),
  when('the record that is decided is not counted', [allow({ related: { ...sameLabel, atMost: 0 } })], ['alone'], { rows: PAIRS }),
  when('the record that is decided is not counted, in a DENY', [everything, deny({ related: sameLabel })], ['alone'], { rows: PAIRS }),
  when('the record that is decided is not counted, negated', [allow({ not: { related: sameLabel } })], ['alone'], { rows: PAIRS }),
  when('a soft-deleted record of a list is no record', [everything, deny(is('resource.partIds.label', 'eq', 'x'))], ['none'], {
    rows: {
      deleted: { label: 'x', deletedAt: '2026-01-31T11:30:00.000Z' },
      full: { partIds: ['deleted'], label: 'y' },
      none: { partIds: [] },
    },
  }),
];
