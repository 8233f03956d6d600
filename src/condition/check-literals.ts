import { type Json, OPERATORS, type Operator } from '../operators/index.ts';
import type { ComparedAs, Comparison, Operand } from './condition.ts';
import { describeOutside, type ValueDomain } from './domain.ts';

/** Mistakes listed for one operand. */
const MISTAKES_SHOWN = 5;

/** Text operators that are true where the text does not match. */
const NEGATED: ReadonlySet<string> = new Set(['ncontains', 'incontains']);

/** A literal, with its place in a list. */
interface Placed {
  readonly value: Json;
  readonly index?: number;
}

/**
 * Returns why a comparison with a literal has the same answer for every value that its path can have; undefined where it
 * has not. The operator compares with whole values (`eq`, `in`, `has`), or with parts of a text (`startsWith`, `like`).
 */
export function checkLiterals({ path, operand }: Comparison, operator: Operator, domain: ValueDomain): string | undefined {
  switch (operator.operand) {
    case 'scalar':
    case 'scalars':
    case 'range':
      return checkValues(operand, operator, { name: path.text, domain });
    case 'text':
    case 'pattern':
      return operand.type === 'literal' ? checkPart(operand.value, operator, { name: path.text, domain }) : undefined;
    default:
      return undefined;
  }
}

/** What values are compared with: a field or path by its name, and the values that it can have. */
interface Subject {
  readonly name: string;
  readonly domain: ValueDomain;
}

/** Returns which literals the subject never equals, in words. JSON's null and lists in the place of a value are left to others. */
export function checkValues(operand: Operand, operator: Operator, { name, domain }: Subject): string | undefined {
  const isList = operator.operand !== 'scalar';
  const mistakes = literalsOf(operand).flatMap(({ value, index }) => {
    if (isList !== (index !== undefined) || typeof value === 'object' || isWithin(value, operator, domain)) return [];
    return [`${index === undefined ? '' : `item ${index}: `}${describeOutside(value, name, domain)}`];
  });
  return mistakes.length === 0 ? undefined : mistakes.slice(0, MISTAKES_SHOWN).join('; ');
}

/** The number after the last one is a bound too: `environment.hour lt 24`. */
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

/** How a value would have to match, by operator. */
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

/** What the values of a path compare as, and which there are. */
interface Known {
  readonly as: ComparedAs;
  readonly domain: ValueDomain | undefined;
}

/** Returns why nothing lies between two literals: the first is the greater one. */
export function checkBounds({ path, operand }: Comparison, operator: Operator, { as, domain }: Known): string | undefined {
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
