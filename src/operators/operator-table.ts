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

/** Operators with their names in Prisma, Directus, Hasura, PostgREST, MongoDB, Cedar, AWS IAM and json-rules-engine. */
const NAMES: readonly (readonly [operator: string, others: string])[] = [
  ['eq', '= == === equals equal equalto is stringequals numericequals dateequals bool'],
  ['ne', '!= !== <> neq not notequals notequal notequalto isnot stringnotequals numericnotequals'],
  ['gt', '> greaterthan numericgreaterthan'],
  ['gte', '>= ge greaterthanorequal greaterthanorequals greaterthanorequalto greaterthaninclusive numericgreaterthanequals'],
  ['lt', '< lessthan numericlessthan'],
  ['lte', '<= le lessthanorequal lessthanorequals lessthanorequalto lessthaninclusive numericlessthanequals'],
  ['between', 'inrange isinrange range'],
  ['in', 'oneof isoneof anyof isin'],
  ['nin', 'notin noneof isnotoneof notanyof'],
  ['contains', '~ substring containssubstring'],
  ['icontains', 'search ilike'],
  ['ncontains', '!~ notcontains doesnotcontain notlike nlike'],
  ['startsWith', 'beginswith prefix hasprefix'],
  ['endsWith', 'suffix hassuffix'],
  ['like', 'glob wildcard stringlike keymatch'],
  ['matches', '=~ ~* regex regexp match imatch iregex similar pattern regexmatch'],
  ['exists', 'defined present nnull notnull isnotnull haskey isset'],
  ['isNull', 'null'],
  ['empty', 'nempty'],
  ['has', 'includes arraycontains member'],
  ['hasAny', '&& overlap overlaps ov intersects containsany arraycontainsany hassome some'],
  ['hasAll', '@> cs containsall arraycontainsall hasevery every all hasallof'],
  ['subsetOf', '<@ cd containedby containedin subset issubset issubsetof'],
  ['before', 'datelessthan earlierthan'],
  ['after', 'dategreaterthan laterthan'],
  ['timeOfDayBetween', 'timebetween timeofday'],
  ['dayOfWeekIn', 'dayofweek weekday weekdayin'],
  ['cidr', 'ipaddress inipaddrrange ipinrange insubnet ipmatch'],
  ['ncidr', 'notipaddress'],
];

const BY_OTHER_NAME: ReadonlyMap<string, string> = new Map([
  ...NAMES.flatMap(([operator, others]) => others.split(' ').map((name) => [name, operator] as const)),
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
