import { didYouMean } from '../errors.ts';
import { describeValue, type Json, OPERATORS, type Operator } from '../operators/index.ts';
import { isGroup } from './attribute-path.ts';
import type { Comparison, ComparisonKind, Operand } from './condition.ts';

/** Maximum mistakes that are listed for one operand. */
const MISTAKES_SHOWN = 5;

/** Text operators that are true if the text does not match. */
const NEGATED: ReadonlySet<string> = new Set(['ncontains', 'incontains']);

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
  const isNegated = NEGATED.has(operator.name);
  const context = { kind: 'text', now: 0, timeZone: 'UTC' } as const;
  // If a part does not match even its own stored form, no value contains it.
  const values: readonly Json[] = domain.values ?? [domain.toStored(expected)];
  if (values.some((value) => operator.evaluate(value, expected, context) !== isNegated)) return undefined;
  return `no value of ${name} ${PARTS[operator.name] ?? 'matches'} ${JSON.stringify(expected.slice(0, 60))}: expected text that fits ${domain.described}${domain.values === undefined ? domain.nearest(expected) : ''}`;
}

/** The verbs for messages, by operator. */
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

/** The values that a path can have: the values of an enum, the hours of a day, or all values in the form in which they are stored. */
export type ValueDomain = ListedDomain | StoredDomain;

interface ListedDomain extends DescribedDomain {
  /** All values. An enum has at most 200. */
  readonly values: readonly (string | number)[];
}

interface StoredDomain extends DescribedDomain {
  readonly values?: undefined;
  /** Returns the form in which a value is stored, such as an email in lower case. */
  toStored(value: Json): Json;
}

interface DescribedDomain {
  /** The values in messages: `one of "open", "closed"`. */
  readonly described: string;
  /** Returns a hint with the value that was probably meant: ` (did you mean 6?)`; empty if no value is near. */
  nearest(given: Json): string;
  /** Returns a hint for the message about a `between` whose lower bound is the greater one, such as hours over midnight. */
  readonly describeWrapped?: (low: number, high: number) => string;
}

/** Maximum values that a message lists. */
const VALUES_SHOWN = 12;

/** Creates the domain of a path that holds one of the given texts. */
export function createTextDomain(values: readonly string[]): ListedDomain {
  const shown = values.slice(0, VALUES_SHOWN).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return Object.freeze({
    values,
    described: `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    nearest: (given: Json) => (typeof given === 'string' ? didYouMean(given, values) : ''),
  });
}

/** Creates the domain of a path whose values are stored in one form. */
export function createStoredDomain(toStored: StoredDomain['toStored']): StoredDomain {
  return Object.freeze({
    toStored,
    described: 'the form in which values are stored',
    nearest: (given: Json) => ` (did you mean ${JSON.stringify(String(toStored(given)).slice(0, 60))}?)`,
  });
}

/** The description of a domain of whole numbers. */
interface NumberDomainOptions extends Pick<DescribedDomain, 'describeWrapped'> {
  /** The noun for messages: `an hour`. */
  readonly noun: string;
  /** Other ways to write a value, in lower case: `sun` and `0` for Sunday. */
  readonly alsoWritten?: ReadonlyMap<string, number>;
}

/** Creates the domain of a path that holds a whole number from `first` to `last`. */
export function createNumberDomain(first: number, last: number, { noun, alsoWritten, describeWrapped }: NumberDomainOptions): ListedDomain {
  const toNearest = (given: Json): number | undefined => {
    const alias = alsoWritten?.get(String(given).toLowerCase());
    if (alias !== undefined) return alias;
    const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof number === 'number' && Number.isFinite(number) ? Math.min(Math.max(Math.round(number), first), last) : undefined;
  };
  return Object.freeze({
    values: Array.from({ length: last - first + 1 }, (_, index) => first + index),
    described: `${noun} from ${first} to ${last}`,
    nearest(given: Json) {
      const near = toNearest(given);
      return near === undefined ? '' : ` (did you mean ${near}?)`;
    },
    ...(describeWrapped !== undefined && { describeWrapped }),
  });
}

/** Returns the message for a literal outside the domain of `name`, with the value or reference that was probably meant. */
function describeOutOfDomain(given: Json, name: string, domain: ValueDomain): string {
  const path = typeof given === 'string' ? parseForeignReference(given) : undefined;
  const hint = path === undefined ? domain.nearest(given) : `; a reference is written \${${path}}`;
  return `${describeValue(given)} is no value of ${name}: expected ${domain.described}${hint}`;
}

/** Maximum length of a reference, in characters. */
const LONGEST = 200;

/** Markers of references in other products: `$user.id`, `@request.auth.id`, `{{user.id}}`, `#{user.id}`, `$(user.id)`, `:user.id`. */
const DECORATED = /^(?:\$?\{\{|[$#@:%]\{?|\$\(|\{|<%=)\s*([A-Za-z_][\w.-]*)(?:\(\))?\s*(?:\}\}|[})%]|%>)?$/;
/** Markers of references inside a text: `owner-{{user.id}}`. */
const INSIDE = /\{\{\s*([A-Za-z_][\w.]*)\s*\}\}/;

/**
 * Names of the caller, the record and the time in other products, mapped to our names. A name that ends with a dot is the start of a
 * path.
 */
const NAMES: readonly (readonly [theirs: string, ours: string])[] = [
  ['request.auth.uid', 'user.id'],
  ['request.auth.', 'user.'],
  ['request.principal.attr.', 'user.'],
  ['request.principal.', 'user.'],
  ['request.resource.attr.', 'resource.'],
  ['request.resource.', 'resource.'],
  ['auth.uid', 'user.id'],
  ['auth.', 'user.'],
  ['principal.', 'user.'],
  ['subject.', 'user.'],
  ['p.attr.', 'user.'],
  ['p.', 'user.'],
  ['r.attr.', 'resource.'],
  ['r.', 'resource.'],
  ['record.', 'resource.'],
  ['current_user.', 'user.'],
  ['currentuser.', 'user.'],
  ['current_user', 'user.id'],
  ['current_role', 'user.role'],
  ['x-hasura-user-id', 'user.id'],
  ['x-hasura-role', 'user.role'],
  ['now', 'environment.timestamp'],
];

/** Names that are references without a marker. */
const PLAIN: ReadonlySet<string> = new Set(['request.auth.uid', 'auth.uid()', 'x-hasura-user-id', 'x-hasura-role']);

/**
 * Parses a reference in the syntax of another product to our path: `user.id` for `{{user.id}}` or `@request.auth.id`.
 * Returns undefined for other texts.
 */
export function parseForeignReference(text: string): string | undefined {
  if (text.length > LONGEST || text.includes('${')) return undefined;
  const trimmed = text.trim();
  const plain = trimmed.toLowerCase();
  const [, name] = DECORATED.exec(trimmed) ?? INSIDE.exec(trimmed) ?? (PLAIN.has(plain) ? [plain, plain.replace('()', '')] : []);
  return name === undefined ? undefined : toOurs(name);
}

function toOurs(name: string): string | undefined {
  const plain = name.toLowerCase();
  for (const [theirs, ours] of NAMES) {
    if (plain === theirs) return ours;
    if (theirs.endsWith('.') && plain.startsWith(theirs) && plain.length > theirs.length) return ours + name.slice(theirs.length);
  }
  const [group = '', ...keys] = name.split('.');
  return isGroup(group) && keys.length > 0 && keys.every((key) => key !== '') ? name : undefined;
}
