/** Generates conditions on ancestors for the law tests. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/operators/index.ts';

/** Paths of ids of things. */
const THINGS = [
  'resource.upId',
  'resource.upId',
  'resource.id',
  'resource.id',
  'resource.parentId',
  'resource.partIds.upId',
  'resource.partIds.id',
];
/** Paths of ids of users. */
const USERS = [
  'resource.ownerId',
  'resource.createdBy',
  'resource.parentId.ownerId',
  'user.id',
  'user.managerId',
  'resource.friendIds.managerId',
  'user.mentorIds.id',
];
/** Tops and middles of the hierarchy of things, rows that are deleted, and rows that do not exist. */
const THING_IDS = [
  't-060',
  't-061',
  't-075',
  't-095',
  't-100',
  't-105',
  't-110',
  't-112',
  't-120',
  't-121',
  't-123',
  't-130',
  't-133',
  't-gone',
];
const USER_IDS = ['u-ann', 'u-bob', 'u-cid', 'u-dan', 'u-gone', 'ext-1'];
const OTHERS: readonly Json[] = [
  '${resource.title}',
  '${user.badge}',
  '${user.note}',
  '${user.teams}',
  '${resource.tags}',
  '${user.profile}',
];

/** Generates conditions on the ancestors of things and of users; with `inSql`, only those that SQL can express, or nearly. */
export function withinConditions(inSql: boolean): fc.Arbitrary<JsonObject> {
  return fc.oneof(
    { weight: 2, arbitrary: conditionsOn(THINGS, THING_IDS, inSql) },
    { weight: 1, arbitrary: conditionsOn(USERS, USER_IDS, inSql) },
  );
}

function conditionsOn(paths: readonly string[], ids: readonly string[], inSql: boolean): fc.Arbitrary<JsonObject> {
  const reference = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...paths.map((path): Json => `\${${path}}`)) },
    fc.constantFrom(...OTHERS),
  );
  const id = fc.constantFrom<Json>(...ids);
  const item = inSql ? id : fc.oneof({ weight: 3, arbitrary: id }, reference);
  const value = fc.oneof(
    { weight: 3, arbitrary: id },
    { weight: 4, arbitrary: fc.array(item, { maxLength: 4 }) },
    { weight: 3, arbitrary: reference },
  );
  return fc.record({ field: fc.constantFrom(...paths), operator: fc.constant('within'), value, ifExists: fc.boolean() });
}

/** Generates conditions on the ancestors of the thing that a field refers to, with known ids. */
export function belowThings(field: string): fc.Arbitrary<JsonObject> {
  const value = fc.array(fc.constantFrom<Json>(...THING_IDS), { minLength: 1, maxLength: 4 });
  return fc.record({ field: fc.constant(field), operator: fc.constant('within'), value, ifExists: fc.boolean() });
}

/** Returns the condition that the row itself or a row above it has the id. */
export function within(id: string): JsonObject {
  return { field: 'resource.id', operator: 'within', value: id };
}

/** A row below another one, which is below `top`; a row below none that exists; and two rows below each other. */
export function below(top: string): Readonly<Record<string, JsonObject>> {
  const [child, grandchild, lost] = [{ upId: top }, { upId: 'child' }, { upId: 'absent' }];
  return { [top]: {}, child, grandchild, lost, ring1: { upId: 'ring2' }, ring2: { upId: 'ring1' } };
}

/** A chain of rows, each below the one before. */
export function chain(length: number): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(levels(0, length - 1).map((id, level) => [id, level === 0 ? {} : { upId: levelId(level - 1) }]));
}

/** Returns the ids of levels of a chain, the first one at the top. */
export function levels(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => levelId(from + index));
}

function levelId(level: number): string {
  return `l${String(level).padStart(2, '0')}`;
}
