/** Arithmetic of integer fields in expressions: compiled to SQL if it cannot overflow int64, with the results of CEL. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Condition, compileCondition, evaluate, type Path, parseConditions } from '../../src/conditions/index.ts';
import { SMALL_LIMITS } from '../../src/conditions/small-limits.fixture.ts';
import { casesOf } from '../budget.ts';
import { ALL_COLUMNS, createHostileTable, DATABASE, type HostileTable, scopeOf, TARGET } from './hostile-table.ts';

/** Expressions that SQL evaluates completely. */
const EXACT: readonly string[] = [
  'resource.size % 2 == 0',
  'resource.size % -7 < 0',
  'resource.size / 10 == 0',
  'resource.size / -3 > 0',
  '(resource.size - 1) * 2 >= resource.size + 8',
  '-resource.size != 9',
  'resource.size * 1024 > 9007199254740991',
  '7 % 3 == resource.size',
];

/** Expressions that could overflow int64 or divide by zero, which are evaluated in memory. */
const IN_MEMORY: readonly string[] = [
  'resource.size * resource.size > 0',
  'resource.size * 1025 > 0',
  'resource.size + 9223372036854775807 > 0',
  'resource.size / 0 == 1',
  'resource.size % 0 == 0',
  '10 / resource.size == 1',
  'resource.size % resource.size == 0',
  'resource.size * 1.5 > 1.0',
  'resource.amount + 1.0 > 2.0',
];

let table: HostileTable;
beforeAll(async () => {
  table = await createHostileTable();
});
afterAll(() => table.close());

describe('integer arithmetic', () => {
  it.each(EXACT)(`integer arithmetic selects the same rows in memory and in ${DATABASE} with SQL only: %s`, async (expression) => {
    for (const condition of [read(expression), read(`!(${expression})`)]) {
      const { where, exact } = compileCondition(condition, TARGET);
      expect([exact, await table.select(where)]).toEqual([true, idsWhere(condition)]);
    }
    expect(idsWhere(read(expression)).length + idsWhere(read(`!(${expression})`)).length).toBeGreaterThan(0);
  });

  it.each(IN_MEMORY)('integer arithmetic that could overflow or divide by zero is evaluated in memory: %s', (expression) =>
    expect(compileCondition(read(expression), TARGET).exact).toBe(false),
  );

  it(`integer arithmetic selects the same rows in memory and in ${DATABASE} for random terms`, async () => {
    let exactly = 0;
    await fc.assert(
      fc.asyncProperty(TERMS, fc.constantFrom('==', '!=', '<', '<=', '>', '>='), TERMS, async (left, sign, right) => {
        const condition = read(`${left} ${sign} ${right}`);
        const wanted = idsWhere(condition);
        const { where, exact } = compileCondition(condition, TARGET);
        const taken = await table.select(where);
        expect(exact ? taken : taken.filter((id) => wanted.includes(id))).toEqual(wanted);
        if (exact && condition.type === 'expression') exactly++;
      }),
      { numRuns: casesOf(200) },
    );
    expect(exactly).toBeGreaterThan(casesOf(200) / 5);
  });
});

const LITERALS = ['0', '1', '2', '-3', '10', '1024', '9007199254740991', '9223372036854775807'];
const { term: TERMS } = fc.letrec<{ term: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant('resource.size'),
    fc.constantFrom(...LITERALS),
    fc.tuple(fc.constantFrom('+', '-', '*'), tie('term'), tie('term')).map(([sign, left, right]) => `(${left} ${sign} ${right})`),
    fc
      .tuple(fc.constantFrom('/', '%'), tie('term'), fc.constantFrom(...LITERALS))
      .map(([sign, left, right]) => `(${left} ${sign} ${right})`),
    tie('term').map((term) => `-(${term})`),
  ),
}));

const KINDS = new Map(ALL_COLUMNS.map(({ name, kind }) => [`resource.${name}`, kind]));

function read(expression: string): Condition {
  const limits = { ...SMALL_LIMITS, expressionLength: 4000, expressionDepth: 32 };
  const describePath = ({ text }: Path) => KINDS.get(text) ?? 'any';
  const { condition, issues } = parseConditions([{ expression }], { at: 'at', expressions: true, limits, describePath });
  expect(issues).toEqual([]);
  return condition;
}

function idsWhere(condition: Condition): readonly number[] {
  return table.rows.filter(({ record }) => evaluate(condition, scopeOf(record)) === true).map(({ id }) => id);
}
