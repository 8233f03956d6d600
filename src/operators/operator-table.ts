import { didYouMean } from '../errors.ts';
import { eq, isIn, ne, nin } from './equality.ts';
import { has, hasAll, hasAny, subsetOf } from './list-operators.ts';
import { cidr, ncidr } from './network.ts';
import type { Operator } from './operator.ts';
import { between, gt, gte, lt, lte } from './ordering.ts';
import { matches } from './pattern.ts';
import { empty, exists, isNull } from './presence.ts';
import { contains, endsWith, icontains, iendsWith, incontains, istartsWith, like, ncontains, startsWith } from './text-operators.ts';
import { after, before, dayOfWeekIn, timeOfDayBetween, withinLast, withinNext } from './time-operators.ts';

/** Every operator, in the order of menus and of the reference. */
const TABLE: readonly Operator[] = [
  eq,
  ne,
  gt,
  gte,
  lt,
  lte,
  between,
  isIn,
  nin,
  contains,
  ncontains,
  startsWith,
  endsWith,
  icontains,
  incontains,
  istartsWith,
  iendsWith,
  like,
  matches,
  exists,
  isNull,
  empty,
  has,
  hasAny,
  hasAll,
  subsetOf,
  before,
  after,
  withinLast,
  withinNext,
  timeOfDayBetween,
  dayOfWeekIn,
  cidr,
  ncidr,
];

/** Every operator by name. A Map has no inherited keys such as `constructor`. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map(TABLE.map((operator) => [operator.name, operator]));

const BY_OTHER_NAME: ReadonlyMap<string, string> = new Map([
  ...TABLE.flatMap(({ name, otherNames }) => (otherNames?.split(' ') ?? []).map((other) => [other, name] as const)),
  ...[...OPERATORS.keys()].map((name) => [name.toLowerCase(), name] as const),
]);

/** Returns ` (did you mean "…"?)` for an unknown operator: the operator with that name in another product, else one with a similar name. */
export function suggestOperator(given: string, known: Iterable<string> = OPERATORS.keys()): string {
  const operators = [...known];
  // `_eq`, `$eq`, `not_in`, `Contains Any`: other spellings of the same name.
  const plain = given
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[$_\s-]/g, '');
  const meant = BY_OTHER_NAME.get(plain);
  return meant !== undefined && operators.includes(meant) ? ` (did you mean "${meant}"?)` : didYouMean(given, operators);
}
