/**
 * The operators of conditions and list filters. Each has an evaluator (`evaluate`) and SQL compilers (`compileSql`,
 * `compileJsonSql`, `compileColumnsSql`) in one object, and compares values of certain kinds.
 *
 * Code outside this folder does not know how an operator behaves. Code inside it does not know paths, records, definitions
 * or policies, never throws on a value, and never returns false for a result that is unknown.
 *
 * Begin with `operator.ts` (the contract), then `equality.ts`. To add an operator, export it from a file here and add a
 * line to `operator-table.ts`.
 */
export { type Decimal, parseDecimal, toDecimalText } from './decimals.ts';
export { parseDate, parseInstant, toInstantText } from './instants.ts';
export { createItemLookup } from './list-operators.ts';
export {
  type ComparisonContext,
  IN_MEMORY,
  type OperandShape,
  type Operator,
  type OperatorSample,
  type SqlColumn,
  type SqlContext,
} from './operator.ts';
export type { SqlDialect, SqlJsonValue, SqlTruth, StoredType, WrittenColumn } from './operator-sql.ts';
export { OPERATORS, suggestOperator } from './operator-table.ts';
export { MAX_MATCHING_STEPS, matchesPattern, maxMatchingSteps, validatePattern } from './pattern.ts';
export { WEEKDAYS } from './time-operators.ts';
export {
  describeValue,
  isObject,
  type Json,
  type JsonObject,
  type Kind,
  MISSING,
  notTruth,
  ownValue,
  type Truth,
  UNKNOWN,
} from './value.ts';
export { canonicalAs, combineKinds, toStored } from './value-kinds.ts';
