import { eq, isIn, ne, nin } from './equality.ts';
import { has, hasAll, hasAny, subsetOf } from './list-operators.ts';
import { cidr, ncidr } from './network.ts';
import type { Operator } from './operator.ts';
import { between, gt, gte, lt, lte } from './ordering.ts';
import { matches } from './pattern.ts';
import { empty, exists, isNull } from './presence.ts';
import { contains, endsWith, icontains, iendsWith, incontains, istartsWith, like, ncontains, startsWith } from './text-operators.ts';
import { dayOfWeekIn, timeOfDayBetween } from './time-of-day.ts';
import { after, before, withinLast, withinNext } from './time-operators.ts';

/** Every operator, in the order menus and the reference show them. */
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

/** By name; a Map, so that `constructor` is no operator. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map(TABLE.map((operator) => [operator.name, operator]));
