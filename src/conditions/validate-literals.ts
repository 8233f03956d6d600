import { type Json, OPERATORS, type Operator } from '../operators/index.ts';
import type { ComparedAs, Comparison, Operand } from './condition.ts';
import { describeOutside, type ValueDomain } from './value-domain.ts';

/** Mistakes listed for one operand. */
const MISTAKES_SHOWN = 5;

/** Text operators that are true if the text does not match. */
const NEGATED: ReadonlySet<string> = new Set(['ncontains', 'incontains']);

/** A literal, with its place in a list. */
interface Placed {
  readonly value: Json;
  readonly index?: number;
}

/**
 * Returns why a comparison with a literal has the same result for every possible value of its path; undefined if the results
 * differ. The operator compares with whole values (`eq`, `in`, `has`), or with parts of a text (`startsWith`, `like`).
 */
export function validateLiterals({ path, operand }: Comparison, operator: Operator, domain: ValueDomain): string | undefined {
  switch (operator.operand) {
    case 'scalar':
    case 'scalars':
    case 'range':
      return validateLiteralValues(operand, operator, { name: path.text, domain });
    case 'text':
    case 'pattern':
      return operand.type === 'literal' ? checkPart(operand.value, operator, { name: path.text, domain }) : undefined;
    default:
      return undefined;
  }
}

/** The field or path that literals are compared with, and its possible values. */
interface Subject {
  readonly name: string;
  readonly domain: ValueDomain;
}

/** Returns messages for literals that the subject never equals. Other checks handle null and lists in place of a value. */
export function validateLiteralValues(operand: Operand, operator: Operator, { name, domain }: Subject): string | undefined {
  const isList = operator.operand !== 'scalar';
  const mistakes = literalsOf(operand).flatMap(({ value, index }) => {
    if (isList !== (index !== undefined) || typeof value === 'object' || isWithin(value, operator, domain)) return [];
    return [`${index === undefined ? '' : `item ${index}: `}${describeOutside(value, name, domain)}`];
  });
  return mistakes.length === 0 ? undefined : mistakes.slice(0, MISTAKES_SHOWN).join('; ');
}

/** Accepts the number after the last one as a bound: `environment.hour lt 24`. */
function isWithin(value: string | number | boolean, { name }: Operator, { values }: ValueDomain): boolean {
  if (values.some((known) => known === value)) return true;
  const last = values.at(-1);
  return name === 'lt' && typeof last === 'number' && value === last + 1;
}

function checkPart(expected: Json, operator: Operator, { name, domain }: Subject): string | undefined {
  if (typeof expected !== 'string') return undefined;
  const none = NEGATED.has(operator.name);
  const frame = { kind: 'text', now: 0, timeZone: 'UTC' } as const;
  if (domain.values.some((value) => operator.matches(value, expected, frame) !== none)) return undefined;
  return `no value of ${name} ${PARTS[operator.name] ?? 'matches'} ${JSON.stringify(expected.slice(0, 60))}: expected text that fits ${domain.described}`;
}

/** The kind of match that each operator needs, for messages. */
const PARTS: Readonly<Record<string, string>> = {
  contains: 'contains',
  ncontains: 'contains',
  icontains: 'contains',
  incontains: 'contains',
  startsWith: 'starts with',
  istartsWith: 'starts with',
  endsWith: 'ends with',
  iendsWith: 'ends with',
};

/** The kind of a path's values and its possible values. */
interface Known {
  readonly as: ComparedAs;
  readonly domain: ValueDomain | undefined;
}

/** Returns why no value lies between two literals: the first is greater than the second. */
export function validateLiteralBounds({ path, operand }: Comparison, operator: Operator, { as, domain }: Known): string | undefined {
  if (operator.operand !== 'range' || operand.type !== 'literal' || !Array.isArray(operand.value)) return undefined;
  const [low, high] = operand.value as readonly Json[];
  if (low === undefined || high === undefined) return undefined;
  if (OPERATORS.get('gt')?.matches(low, high, { ...as, now: 0, timeZone: 'UTC' }) !== true) return undefined;
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
