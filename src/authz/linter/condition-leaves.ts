import { type Comparison, type Condition, type Path, partiallyEvaluate, UNRESOLVED } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { describePath } from '../context/index.ts';
import type { CompiledRule } from '../policies/index.ts';

/** A part of a condition that has no parts of its own, and whether it stands under an odd number of `not`. */
export interface ConditionLeaf {
  readonly condition: Extract<Condition, { type: 'comparison' | 'expression' }>;
  readonly negated: boolean;
}

/** The comparisons and expressions of a condition. */
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

/** Whether some part of a condition is unknown whatever it is evaluated on. */
export function hasUnknown(condition: Condition): boolean {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.some(hasUnknown);
    case 'not':
      return hasUnknown(condition.of);
    case 'constant':
      return condition.value === null;
    default:
      return false;
  }
}

/** What little is known before anyone asks. */
export interface KnownValues {
  readonly definitions: Definitions;
  /** Name of the resource that a rule is about, or `*`: what paths compare as. */
  readonly resource: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  valueOf(path: Path): Json | undefined | typeof UNRESOLVED;
}

/** What is left of a condition where nobody has asked yet: whatever `valueOf` leaves open stays in it. */
export function toResidual(condition: Condition, known: KnownValues): Condition {
  const describe = describePath(known.definitions, known.resource);
  return partiallyEvaluate(condition, {
    now: known.now,
    timeZone: 'UTC',
    valueOf: (path) => known.valueOf(path),
    kindOf(path) {
      const described = describe(path);
      return described === 'any' || 'problem' in described ? undefined : described;
    },
  });
}

/**
 * Whether an ALLOW and a DENY surely never fire together: the values that the ALLOW asks for make the DENY false. Not the
 * other way round, because a DENY fires also where those that it asks for are missing.
 */
export function areDisjoint(allow: CompiledRule, deny: CompiledRule, known: Pick<KnownValues, 'definitions' | 'now'>): boolean {
  const asked = valuesAskedFor(allow);
  if (asked.size === 0) return false;
  const resource = allow.resource === '*' ? deny.resource : allow.resource;
  const left = toResidual(deny.condition, { ...known, resource, valueOf: ({ text }) => asked.get(text) ?? UNRESOLVED });
  return left.type === 'constant' && left.value === false;
}

/** What has to stand at which path for the rule to fire, as far as it says so outright. */
function valuesAskedFor({ condition }: CompiledRule): ReadonlyMap<string, Json> {
  const parts = condition.type === 'all' ? condition.of : [condition];
  const asked = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operator === 'eq');
  return new Map(asked.flatMap(({ path, operand }) => (operand.type === 'literal' ? [[path.text, operand.value] as const] : [])));
}
