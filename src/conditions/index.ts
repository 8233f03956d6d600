/**
 * The condition tree of policies and filters. It is parsed and validated, evaluated or partially evaluated, compiled to SQL, explained
 * and printed. The result is true, false or unknown, and is the same in memory and in SQL.
 *
 * Operators are implemented in `operators/`, and a `Scope` provides the values. A part of a condition that SQL cannot express is never
 * lost: the caller then evaluates the condition in memory. No function returns an absent condition.
 *
 * Begin with `condition.ts`, then `partial-evaluation.ts`. `cel/` parses expressions and lowers them to the same tree.
 */
export type { ParsedPath } from './attribute-path.ts';
export { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS, type CelSyntax } from './cel/cel-language.ts';
export { loadExpressions } from './cel/cel-library.ts';
export type { RelatedSearch } from './compile-related.ts';
export { type CompiledCondition, compileCondition } from './compile-sql.ts';
export type { AncestorsTarget, ItemsTarget, JsonLocation, RelatedOfAllRows, RelatedTarget, SqlTarget } from './compile-target.ts';
export {
  ALWAYS,
  type Ancestors,
  all,
  any,
  CONTEXT_GROUPS,
  type Comparison,
  type ComparisonKind,
  type Condition,
  type ContextGroup,
  constant,
  type Expression,
  MAX_LEVELS,
  NEVER,
  not,
  type Operand,
  type Path,
  type PathKind,
  type Related,
  type RelatedLookup,
  type RelatedRecord,
  type Scope,
  type Some,
  UNRESOLVED,
  type Within,
} from './condition.ts';
export { conditionKey } from './condition-key.ts';
export type { ConditionLimits, ConditionParserOptions, FollowedList } from './condition-parser.ts';
export {
  ancestorsName,
  conditionPaths,
  itemName,
  readsOtherRecords,
  relatedIn,
  relatedName,
  relatedPaths,
  someIn,
  WITHOUT_VALUE,
  withinIn,
  zonedPaths,
} from './condition-paths.ts';
export type { AncestorsTrace, ComparisonTrace, ConditionTrace, RelatedTrace, TracedAnswer } from './condition-trace.ts';
export { countConditions } from './count-conditions.ts';
export { explainCondition, printCondition } from './explain-condition.ts';
export { parseForeignReference } from './foreign-reference.ts';
export { parseConditions } from './parse-condition.ts';
export { WITHIN } from './parse-within.ts';
export { evaluate, type PartialEvaluator, partiallyEvaluate, toPartialEvaluator } from './partial-evaluation.ts';
export { type ReplaceOptions, replaceRelated } from './related-values.ts';
export {
  type PathNames,
  type RenamedConditions,
  renamePaths,
  type StoredRelatedPath,
  storedCondition,
  storedPaths,
  storedRelatedPaths,
} from './rename-paths.ts';
export { traceResidual } from './residual-trace.ts';
export { validateLiteralValues } from './validate-literals.ts';
export { createNumberDomain, createStoredDomain, createTextDomain, type ValueDomain } from './value-domain.ts';
