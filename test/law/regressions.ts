/**
 * Cases that similar products have decided wrongly, and shrunk cases that once failed here, with the ids that must be
 * listed. `check.ts` decides each in all ways.
 */
import type { JsonObject } from '../../src/operators/index.ts';
import { policyOf, type SomeRule, stateOf, toRole, toUser } from '../policy-fixtures.ts';
import type { LawCase } from './check.ts';
import { NOW, type PrincipalName } from './law-fixture.ts';
import { below, chain, levels, within } from './within.ts';

/** A case with the expected result. */
export interface Regression extends LawCase {
  readonly name: string;
  readonly rows: readonly JsonObject[];
  readonly expected: readonly string[];
}

type Rows = Readonly<Record<string, JsonObject>>;

const USUAL: Rows = {
  full: {
    title: 'a',
    label: 'u-ann',
    size: 5,
    amount: 1.5,
    price: '12.30',
    active: true,
    tags: ['a'],
    ownerId: 'u-ann',
    at: '2026-01-31T12:00:00.000Z',
  },
  bare: {},
};
/** The rule that allows everything. */
export const everything: SomeRule = { effect: 'ALLOW' };
const linkedByJson = { resource: 'User', as: 'u', on: { profile: '${resource.extra}' } };

export const REGRESSIONS: readonly Regression[] = [
  // Unknown is neither true nor false. CASL allows on unknown, Cedar and Cerbos skip a DENY, IAM and MongoDB treat it as different.
  when('a missing number is not less', [allow({ field: 'resource.size', operator: 'lt', value: 10 })], ['full']),
  when('a missing number is not more', [allow({ field: 'resource.size', operator: 'gt', value: -10 })], ['full']),
  when('a missing value is not another', [allow({ field: 'resource.label', operator: 'ne', value: 'x' })], ['full']),
  when('a missing value is not none of these', [allow({ field: 'resource.label', operator: 'nin', value: ['x'] })], ['full']),
  when('a missing text does not lack a part', [allow({ field: 'resource.label', operator: 'ncontains', value: 'x' })], ['full']),
  when('not of unknown is unknown', [allow({ not: { field: 'resource.label', operator: 'eq', value: 'x' } })], ['full']),
  when('a DENY on what is missing fires', [everything, deny({ field: 'resource.size', operator: 'gt', value: 10 })], ['full']),
  when(
    'a DENY that is false in one part does not',
    [everything, deny({ field: 'resource.size', operator: 'gt', value: 10 }, { field: 'user.department', operator: 'eq', value: 'b' })],
    ['full', 'bare'],
  ),
  when(
    'a DENY with ifExists lets pass what is missing',
    [everything, deny({ field: 'resource.size', operator: 'gt', value: 10, ifExists: true })],
    ['full', 'bare'],
  ),
  when('a DENY whose expression errs fires', [everything, deny({ expression: '1 / (size(resource.title) - 1) == 1' })], []),
  when(
    'unknown beside true in any',
    [
      allow({
        anyOf: [
          { field: 'resource.size', operator: 'gt', value: 10 },
          { field: 'user.department', operator: 'eq', value: 'a' },
        ],
      }),
    ],
    ['full', 'bare'],
  ),
  when(
    'unknown beside true in all',
    [
      allow({
        allOf: [
          { field: 'resource.size', operator: 'lt', value: 10 },
          { field: 'user.department', operator: 'eq', value: 'a' },
        ],
      }),
    ],
    ['full'],
  ),
  when('a user without the attribute', [everything, deny({ field: 'user.department', operator: 'eq', value: 'b' })], [], { who: 'cid' }),
  when('a claim of another type than the field', [allow({ field: 'user.level', operator: 'gte', value: 1 })], [], { who: 'token' }),
  when('null is null, and not missing', [allow({ field: 'user.note', operator: 'eq', value: null })], ['full', 'bare'], { who: 'token' }),
  when('missing is not null', [allow({ field: 'user.note', operator: 'eq', value: null })], [], { who: 'cid' }),

  // A reference to a missing value is not text, as it is in Directus.
  when('a reference to nothing is not its own text', [allow({ field: 'resource.title', operator: 'eq', value: '${user.nobody}' })], [], {
    rows: { a: { title: '${user.nobody}' }, b: { title: 'undefined' }, c: { title: '' }, d: {} },
  }),
  when('nor inside a text', [allow({ field: 'resource.title', operator: 'startsWith', value: 'x${user.nobody}' })], [], {
    rows: { a: { title: 'x${user.nobody}' }, b: { title: 'xundefined' }, c: { title: 'x' }, d: { title: 'xnull' } },
  }),
  when(
    'an item that is nothing leaves "none of" unknown',
    [allow({ field: 'resource.title', operator: 'nin', value: ['b', '${user.nobody}'] })],
    [],
  ),
  when('two that have nothing are not alike', [allow({ field: 'user.department', operator: 'eq', value: '${resource.title}' })], [], {
    who: 'cid',
  }),
  when('the sides may change places', [allow({ field: 'user.department', operator: 'eq', value: '${resource.title}' })], ['full']),
  when('and orders with them', [allow({ field: 'user.level', operator: 'gt', value: '${resource.size}' })], ['full']),
  when('and lists', [allow({ field: 'user.teams', operator: 'hasAll', value: '${resource.tags}' })], ['full', 'none'], {
    rows: { ...USUAL, none: { tags: [] }, more: { tags: ['a', 'c'] } },
  }),

  // One reference away: an existing record, a missing record, a record without the value.
  when('an owner’s attribute', [allow({ field: 'resource.ownerId.department', operator: 'eq', value: '${user.department}' })], ['ann'], {
    rows: owned(),
  }),
  when(
    'an owner without it, or gone, is not another',
    [allow({ field: 'resource.ownerId.department', operator: 'ne', value: 'a' })],
    ['bob'],
    { rows: owned() },
  ),
  when('a DENY on such an owner fires', [everything, deny({ field: 'resource.ownerId.department', operator: 'ne', value: 'a' })], ['ann'], {
    rows: owned(),
  }),
  when('a parent of the same kind', [allow({ field: 'resource.parentId.title', operator: 'eq', value: '${resource.title}' })], ['child'], {
    rows: {
      root: { title: 'a' },
      child: { title: 'a', parentId: 'root' },
      other: { title: 'b', parentId: 'root' },
      lost: { title: 'a', parentId: 'nobody' },
    },
  }),

  // Ancestors: a row below another one, a row that does not exist, a cycle, and chains of 32 and 33 levels.
  when('a row and the rows below it', [onThings(allow(within('top')))], ['child', 'grandchild', 'top'], { rows: below('top') }),
  when('not below a row is only what certainly is not', [onThings(allow({ not: within('child') }))], ['top'], { rows: below('top') }),
  when('a DENY below a row fires for a row whose place is not known', [everything, onThings(deny(within('child')))], ['top'], {
    rows: below('top'),
  }),
  when('a cycle is unknown, unless the row is in it', [onThings(allow(within('ring1')))], ['ring1', 'ring2'], { rows: below('top') }),
  when('the 32nd level', [onThings(allow(within('l01')))], levels(1, 32), { rows: chain(34) }),
  when('the 33rd level', [onThings(allow({ not: within('gone') }))], levels(0, 31), { rows: chain(34) }),
  when('a row below those of the caller', [allow({ ...within('u-cid'), field: 'resource.ownerId' })], ['ann', 'bob', 'cid'], {
    rows: owned(),
  }),

  // A condition that SQL cannot express is evaluated in memory. OPA drops it.
  when('a pattern', [allow({ field: 'resource.title', operator: 'matches', value: '^a' })], ['full']),
  when('a pattern in a DENY', [everything, deny({ field: 'resource.title', operator: 'matches', value: '^b' })], ['full']),
  when(
    'a negated pattern beside what SQL can say',
    [
      allow({
        anyOf: [
          { not: { field: 'resource.title', operator: 'matches', value: 'x' } },
          { field: 'resource.size', operator: 'gt', value: 9 },
        ],
      }),
    ],
    ['full'],
  ),
  when('a claim that no definition knows', [allow({ field: 'user.badge', operator: 'gte', value: '${resource.size}' })], ['full'], {
    who: 'token',
  }),

  // Text: wildcards, case, combining marks, code points.
  when('a percent sign', [allow({ field: 'resource.title', operator: 'contains', value: '%' })], ['a'], {
    rows: { a: { title: 'a%b' }, b: { title: 'ab' } },
  }),
  when('an underscore', [allow({ field: 'resource.title', operator: 'like', value: 'a_b' })], ['a'], {
    rows: { a: { title: 'a_b' }, b: { title: 'aXb' } },
  }),
  when('brackets of GLOB', [allow({ field: 'resource.title', operator: 'like', value: '[a]*' })], ['a'], {
    rows: { a: { title: '[a]b' }, b: { title: 'ab' } },
  }),
  when('case', [allow({ field: 'resource.title', operator: 'in', value: ['A', 'É'] })], ['a'], {
    rows: { a: { title: 'A' }, b: { title: 'a' }, c: { title: 'é' } },
  }),
  when('any case', [allow({ field: 'resource.title', operator: 'iendsWith', value: 'STRASSE' })], ['a'], {
    rows: { a: { title: 'Große Straße' }, b: { title: 'Weg' } },
  }),
  when('combining marks', [allow({ field: 'resource.title', operator: 'eq', value: '\u00e9' })], ['a'], {
    rows: { a: { title: '\u00e9' }, b: { title: 'e\u0301' } },
  }),
  when('beyond the basic plane', [allow({ field: 'resource.title', operator: 'gt', value: '\uffff' })], ['a'], {
    rows: { a: { title: '😀' }, b: { title: '\ufffd' } },
  }),
  when('half a surrogate pair', [allow({ field: 'resource.title', operator: 'eq', value: '\ud800' })], ['a'], {
    rows: { a: { title: '\ufffd' }, b: { title: 'a' } },
  }),
  when('an address written in two ways', [allow({ field: 'resource.title', operator: 'cidr', value: '10.0.0.0/8' })], ['plain', 'mapped'], {
    // ::10.1.2.3 is only an IPv6 address: ::a01:203.
    rows: {
      plain: { title: '10.1.2.3' },
      mapped: { title: '::ffff:10.1.2.3' },
      compatible: { title: '::10.1.2.3' },
      same: { title: '::a01:203' },
    },
  }),

  // Numbers.
  when('two to the 53rd', [allow({ field: 'resource.amount', operator: 'gt', value: 2 ** 53 - 1 })], ['b'], {
    rows: { a: { amount: 2 ** 53 - 1 }, b: { amount: 2 ** 53 } },
  }),
  when('cents', [allow({ field: 'resource.price', operator: 'between', value: ['12.299', 12.301] })], ['a'], {
    rows: { a: { price: '12.30' }, b: { price: '12.31' }, c: { price: '-12.30' } },
  }),
  when(
    'a decimal of more places than the column has is another',
    [allow({ field: 'resource.price', operator: 'ne', value: '12.301' })],
    ['full'],
  ),
  when('decimals of columns with other places', [allow({ field: 'resource.price', operator: 'eq', value: '${resource.rate}' })], ['a'], {
    rows: { a: { price: '12.30', rate: '12.300' }, b: { price: '12.30', rate: '1.230' }, c: { price: '12.30' } },
  }),
  when('below zero', [allow({ field: 'resource.size', operator: 'lt', value: '${user.managerId.level}' })], ['a'], {
    rows: { a: { size: -2 }, b: { size: -1 }, c: {} },
  }),
  when('instants written with offsets', [allow({ field: 'resource.at', operator: 'in', value: ['2026-01-31T17:45:00+05:45'] })], ['full']),
  when('the day of the week is the configured zone’s', [allow({ field: 'resource.at', operator: 'dayOfWeekIn', value: [7] })], ['a'], {
    rows: { a: { at: '2026-01-31T18:15:00.000Z' }, b: { at: '2026-01-31T18:14:59.999Z' } },
  }),

  // Lists.
  when('in nothing is false, not true', [allow({ field: 'resource.label', operator: 'in', value: [] })], []),
  when('none of nothing is true of what is there', [allow({ field: 'resource.label', operator: 'nin', value: [] })], ['full']),
  when('an empty list has all of nothing', [allow({ field: 'resource.tags', operator: 'subsetOf', value: [] })], ['none'], {
    rows: { ...USUAL, none: { tags: [] } },
  }),
  when('nulls in JSON', [allow({ field: 'resource.extra', operator: 'has', value: 'a' })], ['b'], {
    rows: { a: { extra: [null] }, b: { extra: [null, 'a'] }, c: { extra: { 0: 'a' } }, d: { extra: 'a' }, e: { extra: [['a']] } },
  }),

  when('inside JSON, types are not coerced', [allow({ field: 'resource.doc.a', operator: 'ne', value: 'a' })], ['text', 'null'], {
    rows: {
      ...{
        text: { doc: { a: 'b' } },
        same: { doc: { a: 'a' } },
        null: { doc: { a: null } },
        number: { doc: { a: 5 } },
        false: { doc: { a: false } },
      },
      ...{ list: { doc: { a: ['b'] } }, none: { doc: {} }, items: { doc: ['b'] }, missing: {} },
    },
  }),

  when(
    'a field of JSON links no records, and the result is unknown',
    [allow({ related: linkedByJson }), allow({ not: { related: { ...linkedByJson, atLeast: 3 } } })],
    [],
    { rows: { same: { extra: 'a' }, other: { extra: 'z' }, missing: {} } },
  ),

  // Order of rules.
  when('of equals a DENY', [everything, deny({ field: 'resource.size', operator: 'eq', value: 5 })], [], {
    rows: { full: USUAL['full'] ?? {} },
  }),
  when(
    'of unequals the higher',
    [{ ...everything, priority: 101 }, deny({ field: 'resource.size', operator: 'eq', value: 5 })],
    ['full', 'bare'],
  ),
  when(
    'an ALLOW that is unknown does not keep a lower one from it',
    [
      { ...allow({ field: 'resource.size', operator: 'gt', value: 1 }), priority: 101 },
      allow({ field: 'user.department', operator: 'eq', value: 'a' }),
    ],
    ['full', 'bare'],
  ),
  when(
    'a DENY that is false lets a lower ALLOW',
    [{ ...deny({ field: 'resource.size', operator: 'ne', value: 5 }), priority: 101 }, everything],
    ['full'],
  ),
  {
    ...when('the same policy given twice, to user and role', [], ['full', 'bare']),
    // Priority 100 by the user assignment, 99 by the role assignment: the higher one counts, and precedes the DENY of 99.
    state: stateOf({
      policies: [policyOf('p', [everything]), policyOf('q', [{ effect: 'DENY' }])],
      userPolicies: [toUser('u-ann', 'p')],
      rolePolicies: [toRole('user', 'p', { priority: 99 }), toRole('user', 'q', { priority: 99 })],
    }),
  },
  {
    ...when('what has expired this very millisecond', [], []),
    state: stateOf({
      policies: [policyOf('p', [everything])],
      userPolicies: [toUser('u-ann', 'p', { expiresAt: new Date(NOW).toISOString() })],
    }),
  },
];

/** Creates a case of one role whose rules list the expected ids. */
export function when(
  name: string,
  rules: readonly SomeRule[],
  expected: readonly string[],
  { rows = USUAL, who = 'ann' }: { readonly rows?: Rows; readonly who?: PrincipalName } = {},
): Regression {
  const state = stateOf({ policies: [policyOf('p', rules)], rolePolicies: [toRole('user', 'p'), toRole('editor', 'p')] });
  return { name, state, who, sort: [], limit: 1, rows: Object.entries(rows).map(([id, row]) => ({ id, ...row })), expected };
}

/** Returns a rule that allows. */
export function allow(...conditions: readonly JsonObject[]): SomeRule {
  return { effect: 'ALLOW', conditions };
}

/** Returns a rule that denies. */
export function deny(...conditions: readonly JsonObject[]): SomeRule {
  return { effect: 'DENY', conditions };
}

/** Returns a rule on things: the ids of all resources have no hierarchy in common. */
function onThings(rule: SomeRule): SomeRule {
  return { ...rule, resource: 'Thing' };
}

function owned(): Rows {
  return Object.fromEntries([
    ...['ann', 'bob', 'cid', 'gone'].map((name) => [name, { ownerId: `u-${name}` }] as const),
    ['nobody', {}] as const,
  ]);
}
