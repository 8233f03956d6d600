import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, ownValue, type Truth } from '../operators/index.ts';
import { ALWAYS, type Condition, type Path, type Related, type RelatedLookup, type Scope, UNRESOLVED } from './condition.ts';
import { evaluate, partiallyEvaluate } from './partial-evaluation.ts';

const path = (text: string): Path => {
  const [first = '', ...rest] = text.split('.');
  return first === 'm' ? { group: 'related', keys: ['m', ...rest], text } : { group: first as 'user', keys: rest, text };
};
const isOwner: Condition = {
  type: 'comparison',
  path: path('m.level'),
  operator: 'eq',
  operand: { type: 'literal', value: 'owner' },
  ifExists: false,
};
const member = (bounds: Pick<Related, 'atLeast' | 'atMost'>, where: Condition = isOwner): Related => ({
  type: 'related',
  resource: 'Member',
  as: 'm',
  on: [{ path: path('m.userId'), operand: { type: 'reference', path: path('user.id') } }],
  where,
  limit: 3,
  ...bounds,
});

/** Creates the scope of a user with the given memberships. A membership without a level is unknown. */
function scopeOf(levels: readonly (string | undefined)[], user: JsonObject = { id: 'u' }): Scope {
  const records = levels.map((level, index) => ({
    id: `m${index}`,
    valueOf: ([key]: readonly string[]): Json | undefined => (key === 'level' ? level : undefined),
  }));
  const related: RelatedLookup = {
    find: ({ limit }, values) => (records.length > limit ? 'unknown' : values[0] === 'u' ? records : []),
    item: () => 'unknown',
    ancestors: () => 'unknown',
    kindOf: () => ({ kind: 'text' }),
  };
  return { related, now: 0, timeZone: 'UTC', valueOf: ({ keys }) => ownValue(user, keys[0] ?? ''), kindOf: () => ({ kind: 'text' }) };
}

const [YES, NO, MAYBE] = ['owner', 'reader', undefined];

describe('a condition on related records', () => {
  const cases: readonly [string, Pick<Related, 'atLeast' | 'atMost'>, readonly (string | undefined)[], Truth][] = [
    ['at least 1 of none', { atLeast: 1 }, [], false],
    ['at least 1 of one that is met', { atLeast: 1 }, [NO, YES], true],
    ['at least 1 of one that is unknown', { atLeast: 1 }, [NO, MAYBE], null],
    ['at least 1 of one that is met and one that is unknown', { atLeast: 1 }, [YES, MAYBE], true],
    ['at least 2 of one that is met and one that is unknown', { atLeast: 2 }, [YES, MAYBE], null],
    ['at least 3 of two', { atLeast: 3 }, [YES, MAYBE, NO], false],
    ['at most 0 of none', { atMost: 0 }, [NO], true],
    ['at most 0 of one that is met', { atMost: 0 }, [YES], false],
    ['at most 0 of one that is unknown', { atMost: 0 }, [MAYBE], null],
    ['at most 1 of one that is met and one that is unknown', { atMost: 1 }, [YES, MAYBE], null],
    ['at most 2 of two', { atMost: 2 }, [YES, MAYBE], true],
    ['1 to 2 of three', { atLeast: 1, atMost: 2 }, [YES, YES, YES], false],
    ['1 to 2 of one that is unknown', { atLeast: 1, atMost: 2 }, [MAYBE], null],
    ['more records than the limit', { atLeast: 1 }, [YES, YES, YES, YES], null],
  ];
  it.each(cases)('a condition on related records counts: %s', (_, bounds, levels, expected) => {
    expect(evaluate(member(bounds), scopeOf(levels))).toBe(expected);
    expect(evaluate({ type: 'not', of: member(bounds) }, scopeOf(levels))).toBe(expected === null ? null : !expected);
  });

  it.each<[string, JsonObject]>([
    ['missing', {}],
    ['null', { id: null }],
    ['of another kind', { id: 5 }],
  ])('a condition on related records is unknown if the value of a link is %s', (_, user) => {
    expect(evaluate(member({ atMost: 5 }, ALWAYS), scopeOf([], user))).toBeNull();
  });

  it('a condition on the related records of an unknown record keeps the values that are known', () => {
    const isFriend: Condition = { ...isOwner, operand: { type: 'reference', path: path('user.level') } };
    const scope: Scope = { ...scopeOf([YES]), valueOf: ({ keys }) => (keys[0] === 'id' ? UNRESOLVED : 'owner') };
    expect(partiallyEvaluate(member({ atLeast: 1 }, isFriend), scope)).toEqual({
      ...member({ atLeast: 1 }, { ...isOwner, as: { kind: 'text' } }),
    });
  });

  it('a condition without related records in the scope is kept', () => {
    const { related: _, ...scope } = scopeOf([]);
    expect(partiallyEvaluate(member({ atLeast: 1 }), scope)).toMatchObject({ type: 'related', on: [{ operand: { value: 'u' } }] });
  });
});

it('the kinds of related fields are not cached from a scope without related records', () => {
  const at = { ...isOwner, operand: { type: 'literal', value: '2026-01-31T13:00:00+01:00' } } as Condition;
  const condition = member({ atLeast: 1 }, at);
  const kindsFrom = { definitions: {}, resource: {} };
  const { related, ...scope } = scopeOf(['2026-01-31T12:00:00.000Z']);
  partiallyEvaluate(condition, { ...scope, kindsFrom });
  const known = { ...related, kindOf: (_, [field]) => ({ kind: field === 'level' ? 'timestamp' : 'text' }) } as RelatedLookup;
  expect(evaluate(condition, { ...scope, kindsFrom, related: known })).toBe(true);
});
