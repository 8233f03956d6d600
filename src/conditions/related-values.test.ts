import { describe, expect, it } from 'vitest';
import type { Json, JsonObject, Kind } from '../operators/index.ts';
import { ownValue } from '../operators/index.ts';
import {
  type Condition,
  not,
  type Path,
  type Related,
  type RelatedLink,
  type RelatedLookup,
  type RelatedRecord,
  type Scope,
  UNRESOLVED,
} from './condition.ts';
import { relatedIn } from './condition-paths.ts';
import { evaluate, partiallyEvaluate } from './partial-evaluation.ts';
import { replaceRelated } from './related-values.ts';

const path = (text: string): Path => {
  const [first = '', ...rest] = text.split('.');
  return first === 'm' ? { group: 'related', keys: ['m', ...rest], text } : { group: first as 'user', keys: rest, text };
};
const link = (field: string, to: string): RelatedLink => ({
  path: path(`m.${field}`),
  operand: { type: 'reference', path: path(to) },
});
const equals = (field: string, value: Json): Condition => {
  return { type: 'comparison', path: path(field), operator: 'eq', operand: { type: 'literal', value }, ifExists: false };
};
const BY_USER_AND_TEAM = [link('userId', 'user.id'), link('teamId', 'resource.teamId')];
const member = (parts: Partial<Related> = {}): Related => {
  const { atMost } = parts;
  const bounds = atMost === undefined ? { atLeast: 1 } : {};
  return {
    type: 'related',
    resource: 'Member',
    as: 'm',
    on: BY_USER_AND_TEAM,
    where: equals('m.level', 'owner'),
    limit: 3,
    ...bounds,
    ...parts,
  };
};

/** Memberships: `u` owns a and b, reads c, has no level in d, and has too many memberships in e. One membership has no team. */
const MEMBERS: readonly JsonObject[] = [
  { userId: 'u', teamId: 'a', level: 'owner', siteId: 'x' },
  { userId: 'u', teamId: 'b', level: 'owner', siteId: 'x' },
  { userId: 'u', teamId: 'b', level: 'owner', siteId: 'y' },
  { userId: 'u', teamId: 'c', level: 'reader', siteId: 'x' },
  { userId: 'u', teamId: 'd', siteId: 'x' },
  ...Array.from({ length: 4 }, () => ({ userId: 'u', teamId: 'e', level: 'owner', siteId: 'x' })),
  { userId: 'u', level: 'owner' },
  { userId: 'other', teamId: 'f', level: 'owner', siteId: 'x' },
];
const RECORDS: readonly JsonObject[] = [...'abcdef'].flatMap((teamId) => [{ teamId, siteId: 'x' }, { teamId, siteId: 'y' }, { teamId }]);

interface Situation {
  /** The kind of every field. */
  readonly kind?: Kind;
  readonly found?: readonly RelatedRecord[] | 'unknown';
}

/** Creates the scope of a record, or of a list. */
function scopeOf(record: JsonObject | typeof UNRESOLVED, { kind = 'text', found }: Situation = {}): Scope {
  const related: RelatedLookup = {
    find({ on, limit }, values) {
      if (found !== undefined) return found;
      const isRelated = (one: JsonObject): boolean =>
        on.every(({ path: { keys } }, index) => ownValue(one, keys[1] ?? '') === values[index]);
      const records = MEMBERS.filter(isRelated).map((one, index) => ({
        id: `m${index}`,
        valueOf: ([key = '']: readonly string[]): Json | undefined => ownValue(one, key),
      }));
      return records.length > limit ? 'unknown' : records;
    },
    item: () => 'unknown',
    ancestors: () => 'unknown',
    kindOf: () => ({ kind }),
  };
  const valueAt = ({ group, keys }: Path): Json | undefined | typeof UNRESOLVED => {
    if (group === 'user') return 'u';
    return record === UNRESOLVED ? UNRESOLVED : ownValue(record, keys[0] ?? '');
  };
  return { related, now: 0, timeZone: 'UTC', valueOf: valueAt, kindOf: () => ({ kind }) };
}

/** Replaces the conditions of a list. */
function replace(
  condition: Condition,
  { maxRecords = 1000, isIndexed = true, ...situation }: Situation & { maxRecords?: number; isIndexed?: boolean } = {},
): Condition {
  const residual = partiallyEvaluate(condition, scopeOf(UNRESOLVED));
  return replaceRelated(residual, { scope: scopeOf(UNRESOLVED, situation), maxRecords, isIndexed: () => isIndexed });
}

describe('comparisons instead of conditions on related records', () => {
  const bySite = [...BY_USER_AND_TEAM, link('siteId', 'resource.siteId')];
  const cases: readonly [string, Condition][] = [
    ['at least one', member()],
    ['at least two', member({ atLeast: 2 })],
    ['at most one', member({ atMost: 1 })],
    ['none', member({ atMost: 0 })],
    ['one to two', member({ atLeast: 1, atMost: 2 })],
    ['a negation', not(member())],
    ['a negated maximum', not(member({ atMost: 1 }))],
    ['a group', { type: 'any', of: [{ type: 'all', of: [member(), equals('resource.siteId', 'x')] }, not(member({ atMost: 0 }))] }],
    ['two fields of the record', member({ on: bySite })],
    ['a maximum with two fields of the record', member({ on: bySite, atMost: 1 })],
    [
      'a value of the caller in where',
      member({ where: { ...equals('m.level', ''), operand: { type: 'reference', path: path('user.id') } } as Condition }),
    ],
  ];
  it.each(cases)('they have the same three-valued result: %s', (_, condition) => {
    const replaced = replace(condition);
    expect(relatedIn(replaced)).toEqual([]);
    for (const record of [...RECORDS, {}]) {
      const scope = scopeOf(record);
      expect({ record, truth: evaluate(replaced, scope) }).toEqual({ record, truth: evaluate(condition, scope) });
    }
  });

  it('they compare the field of the record with the values for which the condition is true', () => {
    expect(replace(member())).toMatchObject({
      type: 'any',
      of: [{ path: { text: 'resource.teamId' }, operator: 'in', operand: { value: ['a', 'b'] } }, { type: 'all' }],
    });
  });

  const kept: readonly [string, Condition, Parameters<typeof replace>[1]][] = [
    ['no index finds the records of the caller', member(), { isIndexed: false }],
    ['the caller has more related records than the maximum', member(), { maxRecords: 9 }],
    ['the related records are not known', member(), { found: 'unknown' }],
    ['the linking fields are no texts', member(), { kind: 'number' }],
    ['a value of the record is compared in where', member({ where: equals('resource.siteId', 'x') }), {}],
    ['where counts further records', member({ where: { ...member(), as: 'inner' } }), {}],
    ['the caller determines no link', member({ on: [link('teamId', 'resource.teamId')] }), {}],
    ['a value that links is no text', member(), { found: [{ id: 'm', valueOf: () => 5 }] }],
  ];
  it.each(kept)('the condition stays if %s', (_, condition, options) => {
    expect(relatedIn(replace(condition, options))).toHaveLength(relatedIn(condition).length);
  });

  it('only ten conditions of a list are replaced', () => {
    const many: Condition = { type: 'any', of: Array.from({ length: 12 }, () => member()) };
    expect(relatedIn(replace(many))).toHaveLength(2);
  });

  it('the comparisons of a list have at most 4,000 values', () => {
    const found = Array.from({ length: 900 }, (_, index) => ({
      id: `m${index}`,
      valueOf: ([key]: readonly string[]): Json => (key === 'level' ? 'owner' : `t${index}`),
    }));
    const many: Condition = { type: 'any', of: Array.from({ length: 6 }, () => member()) };
    expect(relatedIn(replace(many, { found }))).toHaveLength(2);
  });
});
