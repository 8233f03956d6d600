/** Generates rules whose records an index has in the order of a list, so that the list reads them as alternatives. */
import fc from 'fast-check';
import type { JsonObject } from '../../src/operators/index.ts';
import type { SomeRule } from '../policy-fixtures.ts';
import { PATHS } from './data.ts';

/** Generates comparisons of an indexed field with one of its values, or with a value of the caller. */
const INDEXED: fc.Arbitrary<JsonObject> = fc
  .constantFrom('ownerId', 'ownerId', 'parentId', 'status', 'label', 'mail', 'id')
  .chain((name) => {
    const path = PATHS.own.find((own) => own.path === `resource.${name}`);
    const values = fc.constantFrom(...(path?.values ?? []), '${user.id}', '${user.department}', '${user.managerId}');
    return values.map((value): JsonObject => ({ field: `resource.${name}`, operator: 'eq', value }));
  });

/** Generators of conditions that a policy may contain. */
interface Conditions {
  readonly any: fc.Arbitrary<JsonObject>;
  readonly related: fc.Arbitrary<JsonObject>;
}

/** Generates the rules of one policy: two to four alternatives, some with a further condition, and sometimes a DENY on all of them. */
export function alternativeRules({ any, related }: Conditions): fc.Arbitrary<SomeRule[]> {
  const first = fc.oneof({ weight: 4, arbitrary: INDEXED }, { weight: 1, arbitrary: related });
  const sometimes = fc.option(any, { freq: 2, nil: undefined });
  const conditions = fc.tuple(first, sometimes).map((each) => each.filter((one) => one !== undefined));
  const common = { resource: 'Thing', action: 'list', isActive: true, priority: 100 } as const;
  return fc
    .tuple(fc.array(conditions, { minLength: 2, maxLength: 4 }), sometimes)
    .map(([allowed, denied]) => [
      ...allowed.map((each): SomeRule => ({ ...common, effect: 'ALLOW', conditions: each })),
      ...(denied === undefined ? [] : [{ ...common, effect: 'DENY' as const, conditions: [denied], priority: 101 }]),
    ]);
}
