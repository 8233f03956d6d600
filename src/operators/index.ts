/**
 * What conditions and list filters can say: each operator with its two faces, `matches` in memory and `toSql` in the
 * database, side by side, and the kinds of value that they compare.
 *
 * Nothing outside this folder may know how an operator behaves. Nothing in it may know a path, a record, a definition
 * or a policy, throw on a value, or answer "false" where it means "unknown".
 *
 * Begin with `operator.ts` (the contract), then `equality.ts`. A new operator is one export there or in a file of its
 * own, and one line in `table.ts`.
 */
export { type Decimal, parseDecimal } from './decimals.ts';
export { parseDate, parseInstant, toInstantText } from './instants.ts';
export {
  type Frame,
  IN_MEMORY,
  type OperandShape,
  type Operator,
  type OperatorSample,
  type SqlAround,
  type SqlSubject,
} from './operator.ts';
export type { SqlDialect, SqlJson, SqlTruth, StoredType } from './operator-sql.ts';
export { OPERATORS, suggestOperator } from './operator-table.ts';
export { checkPattern, matchesPattern, matchingSteps } from './pattern.ts';
export { foldCase } from './text-operators.ts';
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
export { canonicalAs, combineKinds } from './value-kinds.ts';
