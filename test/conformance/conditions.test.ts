import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Condition, type Expression, evaluate, type Path, reduce, toSql } from '../../src/condition/index.ts';
import { type Json, OPERATORS } from '../../src/operators/index.ts';
import { COLUMNS, createHostileTable, LISTS, OPERANDS, openScope, scopeOf, TARGET } from './hostile-table.ts';

const table = createHostileTable();
afterAll(() => table.close());

const paths = [...COLUMNS.map(({ name }) => name), 'absent'].map((key) => ({
  group: 'resource' as const,
  keys: [key],
  text: `resource.${key}`,
}));

/** What no database can say: true for texts of even length. */
const expression: Expression = {
  type: 'expression',
  source: 'size(resource.title) % 2 == 0',
  paths: paths.slice(0, 1),
  evaluate(valueAt) {
    const [title] = paths;
    const value = title === undefined ? undefined : valueAt(title);
    return typeof value === 'string' ? value.length % 2 === 0 : null;
  },
};

const comparisons = fc.record({
  type: fc.constant('comparison' as const),
  path: fc.constantFrom(...paths),
  operator: fc.constantFrom(...OPERATORS.keys()),
  operand: fc.record({ type: fc.constant('literal' as const), value: fc.constantFrom(...OPERANDS, ...LISTS, true, false) }),
  ifExists: fc.boolean(),
});

const { condition: conditions } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    comparisons,
    fc.constantFrom<Condition>({ type: 'constant', value: true }, { type: 'constant', value: null }, expression),
    fc.record({ type: fc.constantFrom('all' as const, 'any' as const), of: fc.array(tie('condition'), { maxLength: 4 }) }),
    fc.record({ type: fc.constant('not' as const), of: tie('condition') }),
  ),
}));

const userPaths = ['a', 'b'].map((key) => ({ group: 'user' as const, keys: [key], text: `user.${key}` }));
const users = fc.record({ a: fc.constantFrom<Json>(...OPERANDS, ...LISTS), b: fc.constantFrom<Json>(...OPERANDS) });
const references = fc.constantFrom<Path>(...paths, ...userPaths).map((path) => ({ type: 'reference' as const, path }));

/** Comparisons between what the user has and what the record has, in either order. */
const referring: fc.Arbitrary<Condition> = fc
  .record({
    type: fc.constant('comparison' as const),
    path: fc.constantFrom<Path>(...paths, ...userPaths),
    operator: fc.constantFrom(...OPERATORS.keys()),
    operand: fc.oneof(
      references,
      fc.array(references, { maxLength: 3 }).map((items) => ({ type: 'array' as const, items })),
    ),
    ifExists: fc.boolean(),
  })
  .chain((comparison) => fc.constantFrom<Condition>(comparison, { type: 'not', of: comparison }));

const leaf: Condition = {
  type: 'comparison',
  path: { group: 'resource', keys: ['size'], text: 'resource.size' },
  operator: 'gte',
  operand: { type: 'literal', value: 0 },
  ifExists: false,
};

describe('a condition takes the same rows in memory and in SQLite', () => {
  it('whatever the tree', () => {
    let exactly = 0;
    fc.assert(
      fc.property(conditions, (condition) => {
        const wanted = idsWhere(condition);
        const { where, exact } = toSql(condition, TARGET);
        const taken = table.select(where);
        if (exact) exactly++;
        // Where SQL says it exactly, nothing is left to memory; where not, it must lose no row.
        if (exact) expect(taken).toEqual(wanted);
        else expect(wanted.filter((id) => !taken.includes(id))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
    expect(exactly).toBeGreaterThan(300);
  });

  it('and rows on which it is unknown are not rows on which its opposite is true', () => {
    fc.assert(
      fc.property(conditions, (condition) => {
        const opposite: Condition = { type: 'not', of: condition };
        const wanted = idsWhere(opposite);
        const { where, exact } = toSql(opposite, TARGET);
        const taken = table.select(where);
        expect(exact ? taken : taken.filter((id) => wanted.includes(id))).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('when a list knows the user and not yet the record', () => {
    fc.assert(
      fc.property(referring, users, (condition, user) => {
        const left = reduce(condition, openScope(user));
        const wanted = table.rows.filter(({ record }) => evaluate(condition, scopeOf(record, user)) === true).map(({ id }) => id);
        const { where, exact } = toSql(left, TARGET);
        const taken = table.select(where);
        expect(exact ? taken : taken.filter((id) => wanted.includes(id))).toEqual(wanted);
      }),
      { numRuns: 3000 },
    );
  });

  it('however deep or wide it is', () => {
    let deep: Condition = leaf;
    for (let level = 0; level < 3000; level++) deep = { type: level % 2 === 0 ? 'any' : 'all', of: [leaf, deep] };
    // More values than SQLite binds in one statement.
    const wide: Condition = { type: 'any', of: Array.from({ length: 40_000 }, () => leaf) };
    // Not too deep, and yet too high once each group is told in pairs.
    let high: Condition = leaf;
    for (let level = 0; level < 280; level++) high = { type: level % 2 === 0 ? 'any' : 'all', of: [...Array(15).fill(leaf), high] };
    for (const condition of [deep, wide, high]) {
      const taken = table.select(toSql(condition, TARGET).where);
      expect(idsWhere(leaf).filter((id) => !taken.includes(id))).toEqual([]);
    }
  });

  it('exactly, however many groups stand side by side', () => {
    const pair: Condition = { type: 'all', of: [leaf, { type: 'not', of: { type: 'not', of: leaf } }] };
    const { where, exact } = toSql({ type: 'any', of: Array.from({ length: 500 }, () => pair) }, TARGET);
    expect([table.select(where), exact]).toEqual([idsWhere(leaf), true]);
  });
});

function idsWhere(condition: Condition): readonly number[] {
  return table.rows.filter(({ record }) => evaluate(condition, scopeOf(record)) === true).map(({ id }) => id);
}
