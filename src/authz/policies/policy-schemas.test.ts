import { describe, expect, it } from 'vitest';
import { CONFIG_OPTIONS } from '../../config/config.ts';
import type { JsonObject } from '../../operators/index.ts';
import { POLICY_CHANGE, POLICY_IMPORT, POLICY_INPUT } from './policy-schemas.ts';

/** Returns the maximum length of a list in a schema. */
function maxItemsOf(schema: object, ...path: readonly string[]): unknown {
  const part = path.reduce<JsonObject>((at, name) => at[name] as JsonObject, schema as JsonObject);
  return part['maxItems'];
}

const POLICIES = ['properties', 'policies'];
const IMPORTED = [...POLICIES, 'items', 'properties'];

describe('the schemas of policies', () => {
  it.each([
    ['rules of a new policy', maxItemsOf(POLICY_INPUT, 'properties', 'rules'), 'policyRules', 10_000],
    ['rules of a change', maxItemsOf(POLICY_CHANGE, 'properties', 'rules'), 'policyRules', 10_000],
    ['rules of an imported policy', maxItemsOf(POLICY_IMPORT, ...IMPORTED, 'rules'), 'policyRules', 10_000],
    ['policies of an import', maxItemsOf(POLICY_IMPORT, ...POLICIES), 'importPolicies', 100_000],
    ['roles of an imported policy', maxItemsOf(POLICY_IMPORT, ...IMPORTED, 'roles'), 'importPolicies', 100_000],
    ['users of an imported policy', maxItemsOf(POLICY_IMPORT, ...IMPORTED, 'users'), 'importPolicies', 100_000],
  ])('the maximum of %s is the largest value of its option', (_, maximum, option, expected) => {
    expect([maximum, CONFIG_OPTIONS.get(option)?.range?.[1]]).toEqual([expected, expected]);
  });
});
