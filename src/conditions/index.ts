/**
 * The condition tree: read from policies and filters, reduced to what is left of it while the record is open, evaluated,
 * said in SQL, explained and printed. In memory and in SQL it has the same three answers.
 *
 * It must never know what an operator does (it asks `operators/`), where values come from (it asks a `Scope`), drop a part
 * that it cannot say, or answer "no condition".
 *
 * Begin with `condition.ts` and `scope.ts`, then `reduce.ts`, of which everything else is a variation.
 */
export type { ParsedPath } from './attribute-path.ts';
export { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS, type CelWord } from './cel/cel-language.ts';
export type { JsonPlace, SqlTarget } from './compile-sql.ts';
export { type CompiledCondition, toSql } from './compile-sql.ts';
export {
  ALWAYS,
  all,
  any,
  CONTEXT_GROUPS,
  type ComparedAs,
  type Comparison,
  type Condition,
  type ContextGroup,
  conditionPaths,
  constant,
  type Expression,
  NEVER,
  not,
  OPEN,
  type Operand,
  type Path,
  type PathKind,
  type Scope,
} from './condition.ts';
export { type ConditionTrace, explainCondition, printCondition, type TracedAnswer } from './explain-condition.ts';
export { parseConditions } from './parse-condition.ts';
export type { ConditionLimits, ConditionParser } from './parsing-context.ts';
export { evaluate, type PartialEvaluator, partiallyEvaluate, toPartialEvaluator } from './partial-evaluation.ts';
export { type RenamedConditions, type RenamePath, renamePaths, writtenPaths } from './rename-paths.ts';
export { createNumberDomain, createTextDomain, toMeantPath, type ValueDomain, validateLiteralValues } from './validate-literals.ts';
