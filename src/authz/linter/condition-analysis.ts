import { type Comparison, type Condition, type Path, partiallyEvaluate, UNRESOLVED } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { describePath, relatedKindOf } from '../context/index.ts';
import type { CompiledRule } from '../policies/index.ts';

/** A comparison, an expression, or a condition on related records or ancestors in a condition. `negated` is true under an odd number of `not`. */
export interface ConditionLeaf {
  readonly condition: Extract<Condition, { type: 'comparison' | 'expression' | 'related' | 'some' | 'within' }>;
  readonly negated: boolean;
}

/** Returns the comparisons, expressions and conditions on related records of a condition. */
export function toLeaves(condition: Condition, negated: boolean = false): readonly ConditionLeaf[] {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.flatMap((part) => toLeaves(part, negated));
    case 'not':
      return toLeaves(condition.of, !negated);
    case 'constant':
      return [];
    default:
      return [{ condition, negated }];
  }
}

/** Returns true if a part of a condition is constantly unknown. */
export function hasUnknown(condition: Condition): boolean {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.some(hasUnknown);
    case 'not':
      return hasUnknown(condition.of);
    case 'related':
    case 'some':
      return hasUnknown(condition.where);
    case 'constant':
      return condition.value === null;
    default:
      return false;
  }
}

/** The values that are known without a request. */
export interface KnownValues {
  readonly definitions: Definitions;
  /** Name of the resource of a rule, or `*`. Determines the kinds of paths. */
  readonly resource: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  valueOf(path: Path): Json | undefined | typeof UNRESOLVED;
}

/** Partially evaluates a condition without a request. Values for which `valueOf` returns UNRESOLVED stay in the residual condition. */
export function toResidual(condition: Condition, known: KnownValues): Condition {
  const describe = describePath(known.definitions, known.resource);
  return partiallyEvaluate(condition, {
    now: known.now,
    timeZone: 'UTC',
    valueOf: (path) => known.valueOf(path),
    related: {
      find: () => UNRESOLVED,
      ancestors: () => UNRESOLVED,
      item: () => UNRESOLVED,
      kindOf: (resource, keys) => relatedKindOf(known.definitions, resource, keys),
    },
    kindOf(path) {
      const described = describe(path);
      return described === 'any' || 'problem' in described ? undefined : described;
    },
  });
}

/**
 * Returns true if an ALLOW and a DENY can never fire together, because the values that the ALLOW requires make the DENY false. The values that
 * the DENY requires prove nothing: it also fires if they are missing.
 */
export function areDisjoint(allow: CompiledRule, deny: CompiledRule, known: Pick<KnownValues, 'definitions' | 'now'>): boolean {
  const required = requiredValues(allow);
  if (required.size === 0) return false;
  const resource = allow.resource === '*' ? deny.resource : allow.resource;
  const residual = toResidual(deny.condition, { ...known, resource, valueOf: ({ text }) => required.get(text) ?? UNRESOLVED });
  return residual.type === 'constant' && residual.value === false;
}

/** Returns the values that the top-level `eq` comparisons of a rule require, by path. */
function requiredValues({ condition }: CompiledRule): ReadonlyMap<string, Json> {
  const parts = condition.type === 'all' ? condition.of : [condition];
  const equalities = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operator === 'eq');
  return new Map(equalities.flatMap(({ path, operand }) => (operand.type === 'literal' ? [[path.text, operand.value] as const] : [])));
}
