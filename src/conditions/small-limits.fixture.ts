import type { ConditionLimits } from './condition-parser.ts';

/** Limits that conditions of tests can exceed. */
export const SMALL_LIMITS: ConditionLimits = {
  depth: 4,
  references: 4,
  comparisons: 20,
  listItems: 5,
  textLength: 100,
  expressionLength: 200,
  expressionDepth: 12,
  relatedRecords: 100,
};
