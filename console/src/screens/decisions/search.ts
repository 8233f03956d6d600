/** The state of the screen of decisions: the search parameters of its address. */
import type { paths } from '../../api/generated/endpoints.d.ts';

type ListQuery = NonNullable<paths['/admin/api/decisions']['get']['parameters']['query']>;

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

/** Times before now. */
export const RANGES = ['1h', '24h', '7d', '30d', 'all'] as const;

/** A time before now. */
export type Range = (typeof RANGES)[number];

const HOURS: Readonly<Record<Range, number | undefined>> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720, all: undefined };

/** The state of the screen. `from` and `to` take precedence over `range`. */
export type DecisionsSearch = {
  readonly [Name in FilterName]?: Name extends 'allowed' ? boolean : string;
} & {
  readonly range?: Range;
  readonly from?: string;
  readonly to?: string;
  /** The id of the entry in the drawer. */
  readonly entry?: string;
};

/** Reads the state from an address. Unknown and malformed parameters are left out. */
export function validateDecisionsSearch(given: Record<string, unknown>): DecisionsSearch {
  const texts = [...FILTER_NAMES.filter((name) => name !== 'allowed'), 'from', 'to', 'entry'];
  return {
    // Identifiers that look like numbers are parsed as numbers.
    ...Object.fromEntries(texts.flatMap((name) => (isText(given[name]) ? [[name, String(given[name])]] : []))),
    ...(typeof given['allowed'] === 'boolean' && { allowed: given['allowed'] }),
    ...(RANGES.includes(given['range'] as Range) && { range: given['range'] as Range }),
  };
}

function isText(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** Returns the filters of a request for entries. Relative times count back from `now`, in milliseconds since 1970. */
export function toFilters(
  { range = '24h', from, to, entry: _, ...filters }: DecisionsSearch,
  now: number,
): Omit<ListQuery, 'limit' | 'cursor'> {
  const hours = HOURS[range];
  const start = from ?? (hours === undefined || to !== undefined ? undefined : new Date(now - hours * 3_600_000).toISOString());
  return { ...(filters as Omit<ListQuery, 'from' | 'to'>), ...(start !== undefined && { from: start }), ...(to !== undefined && { to }) };
}

/** Returns the filters that are set, with their values as text. */
export function presentFilters(search: DecisionsSearch): readonly { readonly name: FilterName; readonly value: string }[] {
  return FILTER_NAMES.flatMap((name) => (search[name] === undefined ? [] : [{ name, value: String(search[name]) }]));
}

/** Returns the state with one filter set, or removed if the value is undefined. */
export function withFilter(search: DecisionsSearch, name: FilterName, value: string | undefined): DecisionsSearch {
  const { [name]: _, ...others } = search;
  if (value === undefined) return others;
  return { ...others, [name]: name === 'allowed' ? value === 'true' : value };
}
