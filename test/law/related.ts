/** Generates conditions on related records for the law tests. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/operators/index.ts';
import type { LawPath } from './data.ts';
import { PATHS } from './data.ts';
import { belowThings } from './within.ts';

/** A related resource: its alias, and the group whose paths its alias replaces. */
interface RelatedKind {
  readonly resource: 'Thing' | 'User';
  readonly as: string;
  readonly group: 'resource' | 'user';
}

const KINDS: readonly RelatedKind[] = [
  { resource: 'Thing', as: 't', group: 'resource' },
  { resource: 'User', as: 'u', group: 'user' },
];
/** Links with few related records are more frequent, because the bounds then make a difference. */
const FREQUENT = ['parentId', 'parentId', 'parentId', 'ownerId', 'id', 'id', 'managerId', 'managerId'];

/** Generates a condition on related records, with conditions on their fields made from `condition`. */
export function relatedConditions(condition: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const outer = fc.constantFrom(...KINDS).chain((kind) => relatedOf(kind, condition));
  const nested = fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS)).chain(([kind, innerKind]) => {
    const inner = relatedOf({ ...innerKind, as: 'inner' }, condition).map((each) => replaceGroup(each, kind.group, kind.as));
    return relatedOf(kind, fc.oneof(condition, inner, inner));
  });
  return fc.oneof(
    { weight: 3, arbitrary: outer },
    { weight: 1, arbitrary: nested },
    { weight: 3, arbitrary: ofCaller(condition) },
    { weight: 1, arbitrary: BELOW },
  );
}

/** Generates a condition on the ancestors of things that are related to the listed one. */
const BELOW: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.constantFrom<JsonObject>(
      ...[
        { parentId: '${resource.parentId}' },
        { ownerId: '${resource.ownerId}' },
        { id: '${resource.parentId}' },
        { parentId: '${resource.id}' },
        // More records than a condition counts.
        { status: '${resource.status}' },
      ],
    ),
    belowThings('t.upId'),
    fc.constantFrom<JsonObject>({}, { atLeast: 2 }, { atMost: 0 }, { atMost: 2 }),
  )
  .map(([on, where, bound]): JsonObject => ({ related: { resource: 'Thing', as: 't', on, where: [where], ...bound } }));

const BOUNDS: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  {},
  {},
  { atLeast: 2 },
  { atMost: 0 },
  { atMost: 2 },
  { atLeast: 1, atMost: 3 },
);

/** Generates a condition on the users that the caller determines, except for a field or two that equal fields of the listed record. */
export function ofCaller(condition: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const known = fc.constantFrom<JsonObject>(
    ...[{ managerId: '${user.managerId}' }, { managerId: '${user.id}' }, { managerId: 'u-bob' }, { isActive: true }, { id: '${user.id}' }],
  );
  const openId = fc.constantFrom<JsonObject>(
    { id: '${resource.ownerId}' },
    { id: '${resource.createdBy}' },
    { id: '${resource.parentId.ownerId}' },
  );
  const openField = fc.constantFrom<JsonObject>({ department: '${resource.label}' }, { department: '${resource.title}' });
  const open = fc.oneof(
    openId,
    openField,
    fc.tuple(openId, openField).map(([one, other]) => ({ ...one, ...other })),
  );
  const where = fc.array(
    condition.map((each) => replaceGroup(each, 'user', 'u')),
    { maxLength: 1 },
  );
  return fc.tuple(known, open, where, BOUNDS).map(([one, others, conditions, bound]): JsonObject => {
    return {
      related: { resource: 'User', as: 'u', on: { ...others, ...one }, ...(conditions.length > 0 && { where: conditions }), ...bound },
    };
  });
}

function relatedOf(kind: RelatedKind, condition: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const { resource, as, group } = kind;
  const links = fc
    .array(linkOf(kind), { minLength: 1, maxLength: 2 })
    .map((each): JsonObject => Object.fromEntries(each.map(({ field, value }) => [field, value])));
  const where = fc
    .array(fc.tuple(condition, fc.boolean()), { maxLength: 2 })
    .map((each) => each.map(([one, isOwn]) => (isOwn ? replaceGroup(one, group, as) : replaceField(one, group, as))));
  return fc.tuple(links, where, BOUNDS).map(([on, conditions, bound]): JsonObject => {
    return { related: { resource, as, on, ...(conditions.length > 0 && { where: conditions }), ...bound } };
  });
}

/** Generates a field of the related resource, and a value of its kind. */
function linkOf({ group }: RelatedKind): fc.Arbitrary<{ readonly field: string; readonly value: Json }> {
  const everywhere = [...PATHS.own, ...PATHS.hop, ...PATHS.known];
  const fields = everywhere.filter(({ path }) => path.startsWith(`${group}.`) && path.split('.').length === 2);
  const named = FREQUENT.flatMap((name) => fields.filter(({ path }) => path === `${group}.${name}`));
  return fc
    .oneof({ weight: 4, arbitrary: fc.constantFrom(...named) }, { weight: 1, arbitrary: fc.constantFrom(...fields) })
    .chain((left: LawPath) => {
      const alike = everywhere.filter(({ kind }) => kind === left.kind);
      const reference = fc.constantFrom(...alike, ...alike.filter(({ path }) => /\.(parentId|ownerId|createdBy|id)$/.test(path)));
      const value = fc.oneof(
        { weight: 4, arbitrary: reference.map(({ path }): Json => `\${${path}}`) },
        { weight: 1, arbitrary: fc.constantFrom<Json>(...left.values) },
      );
      return value.map((given) => ({ field: left.path.split('.')[1] ?? '', value: given }));
    });
}

/** Replaces a group by an alias in all paths. */
function replaceGroup(condition: JsonObject, group: string, as: string): JsonObject {
  const text = JSON.stringify(condition).replaceAll(`"${group}.`, `"${as}.`).replaceAll(`\${${group}.`, `\${${as}.`);
  return JSON.parse(text) as JsonObject;
}

/** Replaces a group by an alias on the left sides of comparisons. */
function replaceField(condition: JsonObject, group: string, as: string): JsonObject {
  return JSON.parse(JSON.stringify(condition).replaceAll(`"field":"${group}.`, `"field":"${as}.`)) as JsonObject;
}
