/** The state of the screen of decisions: the search parameters of its address. */

/** The members that entries can be filtered by. */
export const FILTER_NAMES = [
  'kind',
  'allowed',
  'resource',
  'action',
  'role',
  'userId',
  'policyId',
  'outcome',
  'ip',
  'recordId',
  'ruleId',
  'requestId',
] as const;

/** A member that entries can be filtered by. */
export type FilterName = (typeof FILTER_NAMES)[number];

/** A member whose values can be excluded. `allowed` has two values: a filter requires the other one. */
export type ExcludableName = Exclude<FilterName, 'allowed'>;

/** Times before now. */
export const RANGES = ['1h', '24h', '7d', '30d', 'all'] as const;

/** A time before now. */
export type Range = (typeof RANGES)[number];

/** Orders of the entries. The newest come first by default. */
export const ORDERS = ['newest', 'oldest'] as const;

/** An order of the entries. */
export type Order = (typeof ORDERS)[number];

/** Entries that are hidden by default, because each use of the console adds some: allowed reads of the admin API, and refreshes of sessions. */
export const ROUTINES = ['adminReads', 'refreshes'] as const;

/** Entries that are hidden by default. */
export type Routine = (typeof ROUTINES)[number];

type ExcludedValues = { readonly [Name in ExcludableName]?: readonly string[] };

/** The state of the screen. `from` and `to` take precedence over `range`. */
export type DecisionsSearch = {
  readonly [Name in FilterName]?: Name extends 'allowed' ? boolean : string;
} & {
  /** True shows the entries of a routine, which are hidden by default. */
  readonly [Name in Routine]?: true;
} & {
  /** The excluded values by member. */
  readonly not?: ExcludedValues;
  readonly range?: Range;
  readonly from?: string;
  readonly to?: string;
  /** Absent: the newest entries first. */
  readonly order?: Order;
  /** The id of the entry in the drawer. */
  readonly entry?: string;
  /** True to follow the log. */
  readonly live?: true;
};

/** Maximum number of excluded values of a member that the service accepts. */
export const MAX_EXCLUDED = 20;

/** Reads the state from an address. Unknown and malformed parameters are left out. */
export function validateDecisionsSearch(given: Record<string, unknown>): DecisionsSearch {
  const texts = [...FILTER_NAMES.filter((name) => name !== 'allowed'), 'from', 'to', 'entry'];
  const not = readExcluded(given['not']);
  return {
    // Identifiers that look like numbers are parsed as numbers.
    ...Object.fromEntries(texts.flatMap((name) => (isText(given[name]) ? [[name, String(given[name])]] : []))),
    ...(typeof given['allowed'] === 'boolean' && { allowed: given['allowed'] }),
    ...Object.fromEntries(ROUTINES.filter((name) => given[name] === true).map((name) => [name, true])),
    ...(Object.keys(not).length > 0 && { not }),
    ...(RANGES.includes(given['range'] as Range) && { range: given['range'] as Range }),
    ...(given['order'] === 'oldest' && { order: 'oldest' as const }),
    ...(given['live'] === true && { live: true }),
  };
}

/** Returns the state that a saved view stores. */
export function toView(search: DecisionsSearch): Readonly<Record<string, unknown>> {
  return { ...search, ...Object.fromEntries(ROUTINES.map((name) => [name, search[name] === true])) };
}

/** Returns the state of a saved view. A view that does not name a routine was saved when its entries were always shown. */
export function fromView(query: Record<string, unknown>): DecisionsSearch {
  return validateDecisionsSearch({ ...query, ...Object.fromEntries(ROUTINES.map((name) => [name, query[name] !== false])) });
}

function readExcluded(given: unknown): ExcludedValues {
  if (typeof given !== 'object' || given === null) return {};
  const lists = FILTER_NAMES.filter((name) => name !== 'allowed').map((name) => {
    const values: unknown = (given as Readonly<Record<string, unknown>>)[name];
    return [name, (Array.isArray(values) ? values : []).filter(isText).map(String).slice(0, MAX_EXCLUDED)] as const;
  });
  return Object.fromEntries(lists.filter(([, values]) => values.length > 0));
}

function isText(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
