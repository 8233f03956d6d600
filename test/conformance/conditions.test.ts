import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Condition,
  compileCondition,
  type Expression,
  evaluate,
  type Operand,
  type Path,
  partiallyEvaluate,
  printCondition,
} from '../../src/conditions/index.ts';
import { type Json, OPERATORS } from '../../src/operators/index.ts';
import { casesOf } from '../budget.ts';
import { ALL_COLUMNS, createHostileTable, DATABASE, LISTS, OPERANDS, openScope, scopeOf, TARGET } from './hostile-table.ts';

const table = await createHostileTable();
afterAll(() => table.close());

const toPath = (...keys: readonly string[]): Path => ({ group: 'resource', keys, text: `resource.${keys.join('.')}` });
const columnPaths = [...ALL_COLUMNS.map(({ name }) => toPath(name)), toPath('absent')];
const innerPaths = [toPath('doc', 'a'), toPath('doc', 'x-1', '0'), toPath('doc', 'a', 'a'), toPath('extra', 'a'), toPath('extra', 'a"b')];
const paths = [...columnPaths, ...innerPaths];

/** A condition that SQL cannot express: true for texts of even length. */
const expression: Expression = {
  type: 'expression',
  source: 'size(resource.title) % 2 == 0',
  paths: columnPaths.slice(0, 1),
  evaluate({ valueAt }) {
    const [title] = columnPaths;
    const value = title === undefined ? undefined : valueAt(title);
    return typeof value === 'string' ? value.length % 2 === 0 : null;
  },
};

const literals = fc.record({ type: fc.constant('literal' as const), value: fc.constantFrom(...OPERANDS, ...LISTS, true, false) });
const comparisons = fc.record({
  type: fc.constant('comparison' as const),
  path: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...columnPaths) }, fc.constantFrom(...innerPaths)),
  operator: fc.constantFrom(...OPERATORS.keys()),
  operand: fc.oneof(
    { weight: 4, arbitrary: literals },
    fc.constantFrom(...columnPaths).map((path) => ({ type: 'reference' as const, path })),
  ),
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

/** Comparisons of values of the user with values of the record, in either order. */
const referring: fc.Arbitrary<Condition> = fc
  .record({
    type: fc.constant('comparison' as const),
    path: fc.constantFrom<Path>(...paths, ...userPaths),
    operator: fc.constantFrom(...OPERATORS.keys()),
    operand: fc.oneof(
      references,
      fc
        .array(fc.oneof({ weight: 3, arbitrary: references }, literals), { maxLength: 3 })
        .map((items) => ({ type: 'array' as const, items })),
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

/** Comparisons of two or more columns and of values inside JSON. SQL must evaluate all of them completely. */
const EXACT: readonly (readonly [path: Path, operator: string, operand: Operand])[] = [
  [toPath('title'), 'eq', toReference('subtitle')],
  [toPath('title'), 'in', { type: 'array', items: [toReference('subtitle'), { type: 'literal', value: 'a' }] }],
  [toPath('amount'), 'nin', { type: 'array', items: [toReference('weight'), toReference('size')] }],
  [toPath('at'), 'between', { type: 'array', items: [{ type: 'literal', value: '2026-01-30T00:00:00Z' }, toReference('until')] }],
  [toPath('day'), 'before', toReference('due')],
  [toPath('price'), 'gte', toReference('cost')],
  [toPath('doc', 'a'), 'eq', { type: 'literal', value: 'a' }],
  [toPath('doc', 'a'), 'in', { type: 'literal', value: ['a', 10, true, null] }],
  [toPath('doc', 'x-1', '0'), 'gt', { type: 'literal', value: 9 }],
  [toPath('doc', 'a'), 'exists', { type: 'literal', value: false }],
  [toPath('doc', 'a'), 'empty', { type: 'literal', value: true }],
  [toPath('doc', 'a'), 'icontains', { type: 'literal', value: 'SS' }],
  [toPath('extra'), 'eq', { type: 'literal', value: true }],
];

describe('conditions', () => {
  it(`a condition selects the same rows in memory and in ${DATABASE} for random condition trees`, async () => {
    let exactly = 0;
    await fc.assert(
      fc.asyncProperty(conditions, async (condition) => {
        const wanted = idsWhere(condition);
        const { where, exact } = compileCondition(condition, TARGET);
        const taken = await table.select(where);
        if (exact) exactly++;
        // Exact SQL needs no evaluation in memory. Inexact SQL must not lose a row.
        if (exact) expect(taken).toEqual(wanted);
        else expect(wanted.filter((id) => !taken.includes(id))).toEqual([]);
      }),
      { numRuns: casesOf(500) },
    );
    expect(exactly).toBeGreaterThan(casesOf(500) / 5);
  });

  it(`a condition selects the same rows in memory and in ${DATABASE} for negations, which may be unknown`, async () => {
    await fc.assert(
      fc.asyncProperty(conditions, async (condition) => {
        const opposite: Condition = { type: 'not', of: condition };
        const wanted = idsWhere(opposite);
        const { where, exact } = compileCondition(opposite, TARGET);
        const taken = await table.select(where);
        expect(exact ? taken : taken.filter((id) => wanted.includes(id))).toEqual(wanted);
      }),
      { numRuns: casesOf(200) },
    );
  });

  it(`a condition selects the same rows in memory and in ${DATABASE} after partial evaluation with a known user`, async () => {
    let exactly = 0;
    await fc.assert(
      fc.asyncProperty(referring, users, async (condition, user) => {
        const left = partiallyEvaluate(condition, openScope(user));
        const wanted = table.rows.filter(({ record }) => evaluate(condition, scopeOf(record, user)) === true).map(({ id }) => id);
        const { where, exact } = compileCondition(left, TARGET);
        const taken = await table.select(where);
        expect(exact ? taken : taken.filter((id) => wanted.includes(id))).toEqual(wanted);
        if (exact && left.type !== 'constant' && wanted.length > 0) exactly++;
      }),
      { numRuns: casesOf(1000) },
    );
    expect(exactly).toBeGreaterThan(casesOf(1000) / 30);
  });

  for (const [path, operator, operand] of EXACT) {
    const comparison: Condition = { type: 'comparison', path, operator, operand, ifExists: false };
    it(`a condition selects the same rows in memory and in ${DATABASE} with SQL only: ${printCondition(comparison)}`, async () => {
      for (const condition of [comparison, { ...comparison, ifExists: true }]) {
        for (const asked of [condition, { type: 'not', of: condition } as const]) {
          const { where, exact } = compileCondition(partiallyEvaluate(asked, openScope({})), TARGET);
          expect([exact, await table.select(where)]).toEqual([true, idsWhere(asked)]);
        }
        expect(idsWhere(condition).length).toBeGreaterThan(0);
      }
    });
  }

  it(`a condition selects the same rows in memory and in ${DATABASE} for very deep and very wide trees`, async () => {
    let deep: Condition = leaf;
    for (let level = 0; level < 3000; level++) deep = { type: level % 2 === 0 ? 'any' : 'all', of: [leaf, deep] };
    // More values than SQLite binds in one statement.
    const wide: Condition = { type: 'any', of: Array.from({ length: 40_000 }, () => leaf) };
    // Within the depth limit, but too deep once each group is compiled to nested pairs.
    let high: Condition = leaf;
    for (let level = 0; level < 280; level++) high = { type: level % 2 === 0 ? 'any' : 'all', of: [...Array(15).fill(leaf), high] };
    for (const condition of [deep, wide, high]) {
      const taken = await table.select(compileCondition(condition, TARGET).where);
      expect(idsWhere(leaf).filter((id) => !taken.includes(id))).toEqual([]);
    }
  });

  it(`a condition selects exactly the same rows in memory and in ${DATABASE} for many groups side by side`, async () => {
    const pair: Condition = { type: 'all', of: [leaf, { type: 'not', of: { type: 'not', of: leaf } }] };
    const { where, exact } = compileCondition({ type: 'any', of: Array.from({ length: 500 }, () => pair) }, TARGET);
    expect([await table.select(where), exact]).toEqual([idsWhere(leaf), true]);
  });
});

function toReference(name: string): Operand {
  return { type: 'reference', path: toPath(name) };
}

function idsWhere(condition: Condition): readonly number[] {
  return table.rows.filter(({ record }) => evaluate(condition, scopeOf(record)) === true).map(({ id }) => id);
}
