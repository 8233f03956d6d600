import { type Comparison, OPEN } from '../condition/index.ts';
import type { Json } from '../operators/index.ts';
import type { CompiledRule } from '../policy/index.ts';
import { type Known, whatIsLeft } from './what-is-left.ts';

/**
 * Whether an ALLOW and a DENY surely never fire together: the values that the ALLOW asks for make the DENY false. Not the
 * other way round, because a DENY fires also where those that it asks for are missing.
 */
export function areDisjoint(allow: CompiledRule, deny: CompiledRule, known: Pick<Known, 'definitions' | 'now'>): boolean {
  const asked = valuesAskedFor(allow);
  if (asked.size === 0) return false;
  const resource = allow.resource === '*' ? deny.resource : allow.resource;
  const left = whatIsLeft(deny.condition, { ...known, resource, valueOf: ({ text }) => asked.get(text) ?? OPEN });
  return left.type === 'constant' && left.value === false;
}

/** What has to stand at which path for the rule to fire, as far as it says so outright. */
function valuesAskedFor({ condition }: CompiledRule): ReadonlyMap<string, Json> {
  const parts = condition.type === 'all' ? condition.of : [condition];
  const asked = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operator === 'eq');
  return new Map(asked.flatMap(({ path, operand }) => (operand.type === 'literal' ? [[path.text, operand.value] as const] : [])));
}
