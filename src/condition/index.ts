/**
 * The condition tree: read from policies and filters, reduced to what is left of it while the record is open, evaluated,
 * said in SQL, explained and printed. In memory and in SQL it has the same three answers.
 *
 * It must never know what an operator does (it asks `operators/`), where values come from (it asks a `Scope`), drop a part
 * that it cannot say, or answer "no condition".
 *
 * Begin with `condition.ts` and `scope.ts`, then `reduce.ts`, of which everything else is a variation.
 */
export { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS, type CelWord } from './cel-language.ts';
export { checkValues } from './check-literals.ts';
export {
  CONTEXT_GROUPS,
  type ComparedAs,
  type Comparison,
  type Condition,
  type ContextGroup,
  type Expression,
  type Operand,
  type Path,
} from './condition.ts';
export { createNumberDomain, createTextDomain, type ValueDomain } from './domain.ts';
export { type ConditionTrace, explainCondition, type TracedAnswer } from './explain.ts';
export { toMeantPath } from './foreign-reference.ts';
export type { ParsedPath } from './path.ts';
export { conditionPaths } from './paths.ts';
export { printCondition } from './print.ts';
export { readConditions } from './read.ts';
export type { ConditionLimits, ConditionReader } from './reading.ts';
export { evaluate, type Reduction, reduce, toReduction } from './reduce.ts';
export { type RenamedConditions, type RenamePath, renamePaths, writtenPaths } from './rename.ts';
export { OPEN, type PathKind, type Scope } from './scope.ts';
export { type CompiledCondition, toSql } from './sql.ts';
export type { JsonPlace, SqlTarget } from './sql-comparison.ts';
export { ALWAYS, all, any, constant, NEVER, not } from './tree.ts';
