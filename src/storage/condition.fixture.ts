import { LIMITS } from '../../test/policy-fixtures.ts';
import { describeLists, describePath, describeRelated } from '../authz/context/index.ts';
import { type Condition, parseConditions } from '../conditions/index.ts';
import type { JsonObject } from '../operators/index.ts';
import type { Definitions } from '../resources/index.ts';

/** The records that a condition is about. */
interface ConditionSubject {
  readonly definitions: Definitions;
  /** Name of their resource. */
  readonly resource: string;
  /** Maximum related records; by default, that of the product. */
  readonly relatedRecords?: number;
}

/** Parses a condition as it is written in a rule. Throws an Error with its mistakes. */
export function parseCondition({ definitions, resource, relatedRecords }: ConditionSubject, written: JsonObject): Condition {
  const { condition, issues } = parseConditions([written], {
    at: '',
    expressions: false,
    limits: { ...LIMITS.conditions, ...(relatedRecords !== undefined && { relatedRecords }) },
    describePath: describePath(definitions, resource),
    listsOf: describeLists(definitions, resource),
    describeRelated: describeRelated(definitions),
  });
  if (issues.length > 0) throw new Error(issues.map(({ path, detail }) => `${path}: ${detail}`).join('; '));
  return condition;
}
