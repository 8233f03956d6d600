/** Messages for literals with which a comparison has the same result for every possible value of its path. */
import { describeValue, type Json, OPERATORS, type Operator } from '../operators/index.ts';
import type { Comparison, ComparisonKind, Operand } from './condition.ts';
import { parseForeignReference } from './foreign-reference.ts';
import type { ValueDomain } from './value-domain.ts';

/** Maximum mistakes that are listed for one operand. */
const MISTAKES_SHOWN = 5;

/** A literal, with its index if it is an item of a list. */
interface Placed {
  readonly value: Json;
  readonly index?: number;
}

/**
 * Returns why a comparison with a literal has the same result for every possible value of its path; undefined if the results
 * differ. Checks operators that compare whole values (`eq`, `in`, `has`) or parts of a text (`startsWith`, `like`).
 */
export function validateLiterals({ path, operand }: Comparison, operator: Operator, domain: ValueDomain): string | undefined {
  switch (operator.operand) {
    case 'scalar':
    case 'scalars':
    case 'range':
      return validateLiteralValues(operand, operator, { name: path.text, domain });
    case 'text':
    case 'pattern':
      // A pattern is no part of a text, so it has no stored form.
      if (operator.operand === 'pattern' && domain.values === undefined) return undefined;
      return operand.type === 'literal' ? validatePart(operand.value, operator, { name: path.text, domain }) : undefined;
    default:
      return undefined;
  }
}

/** The field or path that literals are compared with, and its possible values. */
interface Subject {
  readonly name: string;
  readonly domain: ValueDomain;
}

/**
 * Returns messages for literals that the path never equals. Ignores null and literals of the wrong shape, such as a list in place of a
 * value: other checks report them.
 */
export function validateLiteralValues(operand: Operand, operator: Operator, { name, domain }: Subject): string | undefined {
  const isList = operator.operand !== 'scalar';
  const mistakes = literalsOf(operand).flatMap(({ value, index }) => {
    if (isList !== (index !== undefined) || typeof value === 'object' || isWithin(value, operator, domain)) return [];
    return [`${index === undefined ? '' : `item ${index}: `}${describeOutOfDomain(value, name, domain)}`];
  });
  return mistakes.length === 0 ? undefined : mistakes.slice(0, MISTAKES_SHOWN).join('; ');
}

/** Returns whether a literal is in the domain. `lt` also accepts the last number plus one: `environment.hour lt 24`. */
function isWithin(value: string | number | boolean, { name }: Operator, domain: ValueDomain): boolean {
  if (domain.values === undefined) return domain.toStored(value) === value;
  const { values } = domain;
  if (values.some((known) => known === value)) return true;
  const last = values.at(-1);
  return name === 'lt' && typeof last === 'number' && value === last + 1;
}

function validatePart(expected: Json, operator: Operator, { name, domain }: Subject): string | undefined {
  if (typeof expected !== 'string') return undefined;
  const positive = operator.negates ?? operator;
  const context = { kind: 'text', now: 0, timeZone: 'UTC' } as const;
  // If a part does not match even its own stored form, no value contains it.
  const values: readonly Json[] = domain.values ?? [domain.toStored(expected)];
  if (values.some((value) => positive.evaluate(value, expected, context) !== false)) return undefined;
  return `no value of ${name} ${positive.verb ?? 'matches'} ${JSON.stringify(expected.slice(0, 60))}: expected text that fits ${domain.described}${domain.values === undefined ? domain.nearest(expected) : ''}`;
}

/** The kind of a path's values and its possible values. */
interface Known {
  readonly as: ComparisonKind;
  readonly domain: ValueDomain | undefined;
}

/** Returns a message if the first bound of a range is greater than the second, so that no value lies between them. */
export function validateLiteralBounds({ path, operand }: Comparison, operator: Operator, { as, domain }: Known): string | undefined {
  if (operator.operand !== 'range' || operand.type !== 'literal' || !Array.isArray(operand.value)) return undefined;
  const [low, high] = operand.value as readonly Json[];
  if (low === undefined || high === undefined) return undefined;
  if (OPERATORS.get('gt')?.evaluate(low, high, { ...as, now: 0, timeZone: 'UTC' }) !== true) return undefined;
  const other = typeof low === 'number' && typeof high === 'number' ? domain?.describeWrapped?.(low, high) : undefined;
  const [first, second] = [JSON.stringify(low), JSON.stringify(high)].map((text) => text.slice(0, 60));
  return `nothing lies between ${first} and ${second}: expected the lower bound of ${path.text} first${other === undefined ? '' : `; ${other}`}`;
}

function literalsOf(operand: Operand): readonly Placed[] {
  if (operand.type === 'array')
    return operand.items.flatMap((item, index) => (item.type === 'literal' ? [{ value: item.value, index }] : []));
  if (operand.type !== 'literal') return [];
  const { value } = operand;
  return Array.isArray(value) ? value.map((item: Json, index) => ({ value: item, index })) : [{ value }];
}

/** Returns the message for a literal outside the domain of `name`, with the value or reference that was probably meant. */
function describeOutOfDomain(given: Json, name: string, domain: ValueDomain): string {
  const path = typeof given === 'string' ? parseForeignReference(given) : undefined;
  const hint = path === undefined ? domain.nearest(given) : `; a reference is written \${${path}}`;
  return `${describeValue(given)} is no value of ${name}: expected ${domain.described}${hint}`;
}
