/** CEL expressions with their meaning, written by hand: an equivalent condition, or a function. */
import type { Json, JsonObject, Truth } from '../../src/operators/index.ts';
import type { ExpressionMeaning } from '../reference/reference-facts.ts';
import { all, any } from '../reference/reference-operators.ts';

const none = (field: string): JsonObject => ({ field, operator: 'empty', value: true });
const some = (field: string): JsonObject => ({ field, operator: 'empty', value: false });

const is = (field: string, operator: string, value: Json): JsonObject => ({ field, operator, value });
const related = (resource: string, as: string, members: JsonObject): JsonObject => ({ related: { resource, as, ...members } });

/** Expressions with an equivalent condition, which must give the same result. */
const SAME_AS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [
    'related(User, u, u.id == resource.ownerId && u.managerId == user.managerId, u.level > 0 || u.department == resource.label)',
    related('User', 'u', {
      on: { id: '${resource.ownerId}', managerId: '${user.managerId}' },
      where: [{ anyOf: [is('u.level', 'gt', 0), is('u.department', 'eq', '${resource.label}')] }],
    }),
  ],
  [
    '!related(Thing, t, resource.parentId == t.parentId).atLeast(2).atMost(3)',
    { not: related('Thing', 't', { on: { parentId: '${resource.parentId}' }, atLeast: 2, atMost: 3 }) },
  ],
  [
    'related(Thing, t, t.id == resource.parentId, related(User, u, u.id == t.ownerId, u.managerId == user.managerId).atMost(0) && has(t.size))',
    related('Thing', 't', {
      on: { id: '${resource.parentId}' },
      where: [
        related('User', 'u', { on: { id: '${t.ownerId}' }, where: [is('u.managerId', 'eq', '${user.managerId}')], atMost: 0 }),
        is('t.size', 'exists', true),
      ],
    }),
  ],
  [
    'related(User, u, u.id == resource.ownerId, u.teams.exists(t, t == resource.label))',
    related('User', 'u', {
      on: { id: '${resource.ownerId}' },
      where: [some('u.teams'), is('u.teams', 'has', '${resource.label}')],
    }),
  ],
  ['resource.friendIds.department == "a"', is('resource.friendIds.department', 'eq', 'a')],
  ['!(user.department in resource.friendIds.teams)', { not: is('user.department', 'in', '${resource.friendIds.teams}') }],
  [
    'has(resource.partIds.size) && resource.partIds.size > 0',
    {
      allOf: [is('resource.partIds.size', 'exists', true), is('resource.partIds.size', 'gt', 0)],
    },
  ],
  [
    'related(User, u, u.id == resource.ownerId, u.mentorIds.level >= user.level)',
    related('User', 'u', { on: { id: '${resource.ownerId}' }, where: [is('u.mentorIds.level', 'gte', '${user.level}')] }),
  ],
  ['resource.title == user.department', { field: 'resource.title', operator: 'eq', value: '${user.department}' }],
  ['resource.title != user.department', { field: 'resource.title', operator: 'ne', value: '${user.department}' }],
  ['resource.extra != "10"', { field: 'resource.extra', operator: 'ne', value: '10' }],
  ['!(resource.title in user.teams)', { not: { field: 'resource.title', operator: 'in', value: '${user.teams}' } }],
  ['user.department in resource.tags', { field: 'user.department', operator: 'in', value: '${resource.tags}' }],
  ['resource.title in ["a", user.department]', { field: 'resource.title', operator: 'in', value: ['a', '${user.department}'] }],
  ['10.0 <= resource.amount', { field: 'resource.amount', operator: 'gte', value: 10 }],
  ['resource.price == "12.3"', { field: 'resource.price', operator: 'eq', value: '12.3' }],
  ['user.badge == 10', { field: 'user.badge', operator: 'eq', value: 10 }],
  ['user.note == null', { field: 'user.note', operator: 'eq', value: null }],
  ['resource.title.matches("^[a-z]+$")', { field: 'resource.title', operator: 'matches', value: '^[a-z]+$' }],
  ['resource.at > timestamp("2026-01-31T12:59:59+01:00")', { field: 'resource.at', operator: 'gt', value: '2026-01-31T11:59:59Z' }],
  ['timestamp(user.seenAt) >= timestamp(resource.at)', { field: 'resource.at', operator: 'lte', value: '${user.seenAt}' }],
  ['size(resource.tags) > 0', { field: 'resource.tags', operator: 'empty', value: false }],
  ['0 == resource.title.size()', { field: 'resource.title', operator: 'empty', value: true }],
  ['resource.size <= 2 * 5', { field: 'resource.size', operator: 'lte', value: 10 }],
  [
    'user.teams.exists(t, t == resource.title)',
    { allOf: [some('user.teams'), { field: 'resource.title', operator: 'in', value: '${user.teams}' }] },
  ],
  [
    'user.teams.all(t, t in resource.tags)',
    { anyOf: [none('user.teams'), { field: 'resource.tags', operator: 'hasAll', value: '${user.teams}' }] },
  ],
  [
    'resource.tags.exists(t, t in user.teams)',
    { allOf: [some('resource.tags'), { field: 'resource.tags', operator: 'hasAny', value: '${user.teams}' }] },
  ],
  [
    'resource.tags.all(t, t != user.department)',
    { anyOf: [none('resource.tags'), { not: { field: 'resource.tags', operator: 'has', value: '${user.department}' } }] },
  ],
  [
    'resource.parentId.ownerId.department == user.managerId.managerId.department',
    { field: 'resource.parentId.ownerId.department', operator: 'eq', value: '${user.managerId.managerId.department}' },
  ],
  ['resource.ownerId.department == user.department', { field: 'resource.ownerId.department', operator: 'eq', value: '${user.department}' }],
  [
    'has(resource.title) && !(resource.size < 0)',
    {
      allOf: [{ field: 'resource.title', operator: 'exists', value: true }, { not: { field: 'resource.size', operator: 'lt', value: 0 } }],
    },
  ],
  [
    'has(resource.parentId.title) && resource.parentId.title.endsWith("b")',
    {
      allOf: [
        { field: 'resource.parentId.title', operator: 'exists', value: true },
        { field: 'resource.parentId.title', operator: 'endsWith', value: 'b' },
      ],
    },
  ],
]);

type At = (path: string) => Json | undefined;

/** Expressions without an equivalent condition, with a function that gives the result. An error is unknown. */
const COMES_TO: ReadonlyMap<string, ExpressionMeaning> = new Map<string, ExpressionMeaning>([
  [
    'size(resource.title) > 1 && resource.active',
    (at) => all([ofText(at('resource.title'), (length) => length > 1), flag(at('resource.active'))]),
  ],
  [
    'resource.tags.exists(t, t == "a") || resource.amount < 2.0',
    (at) => any([ofItems(at('resource.tags'), (items) => items.includes('a')), ofNumber(at('resource.amount'), (amount) => amount < 2)]),
  ],
  ['resource.scores.all(s, s >= 1.0)', (at) => ofItems(at('resource.scores'), (items) => items.every((item) => Number(item) >= 1))],
  ['resource.amount + 1.0 > 2.0', (at) => ofNumber(at('resource.amount'), (amount) => amount + 1 > 2)],
  [
    'resource.active ? resource.amount > 5.0 : resource.title.startsWith("a")',
    (at) => {
      const active = flag(at('resource.active'));
      return active === null ? null : active ? ofNumber(at('resource.amount'), (amount) => amount > 5) : startsWithA(at);
    },
  ],
  [
    'user.isActive ? resource.active : resource.size == 10',
    (at) => {
      const active = flag(at('user.isActive'));
      return active === null ? null : active ? flag(at('resource.active')) : ofNumber(at('resource.size'), (size) => size === 10);
    },
  ],
  ['size(resource.tags) == 0', (at) => ofItems(at('resource.tags'), (items) => items.length === 0)],
  // Integer division: 1 divided by more than 1 is 0, and by 0 an error.
  ['1 / (size(resource.title) - 1) == 1', (at) => ofText(at('resource.title'), (length) => (length === 1 ? null : length === 2))],
  ['resource.size % 2 == 0', (at) => ofNumber(at('resource.size'), (size) => size % 2 === 0)],
  [
    '(resource.size - 1) * 2 > resource.size + 8',
    (at) => ofNumber(at('resource.size'), (size) => (BigInt(size) - 1n) * 2n > BigInt(size) + 8n),
  ],
  ['-resource.size / 3 == -3', (at) => ofNumber(at('resource.size'), (size) => BigInt(size) / 3n === 3n)],
  [
    'resource.size < user.level + 1',
    (at) => both(at('resource.size'), at('user.level'), (size, level) => BigInt(size) < BigInt(level) + 1n),
  ],
  ['size(resource.ownerId.teams) > 0', (at) => ofItems(at('resource.ownerId.teams'), (items) => items.length > 0)],
]);

/** All expressions that generated rules use, with their meaning. */
export const EXPRESSIONS: ReadonlyMap<string, JsonObject | ExpressionMeaning> = new Map<string, JsonObject | ExpressionMeaning>([
  ...SAME_AS,
  ...COMES_TO,
]);

/** Counts code points, as CEL does. */
function ofText(value: Json | undefined, holds: (length: number) => Truth): Truth {
  return typeof value === 'string' ? holds([...value].length) : null;
}

function ofNumber(value: Json | undefined, holds: (value: number) => boolean): Truth {
  return typeof value === 'number' ? holds(value) : null;
}

function ofItems(value: Json | undefined, holds: (items: readonly Json[]) => boolean): Truth {
  return Array.isArray(value) ? holds(value) : null;
}

function both(left: Json | undefined, right: Json | undefined, holds: (left: number, right: number) => boolean): Truth {
  return ofNumber(left, () => true) === null ? null : ofNumber(right, (value) => holds(left as number, value));
}

function flag(value: Json | undefined): Truth {
  return typeof value === 'boolean' ? value : null;
}

function startsWithA(at: At): Truth {
  const title = at('resource.title');
  return typeof title === 'string' ? title.startsWith('a') : null;
}
