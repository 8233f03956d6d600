/** The filters of entries: as a request states them, and as the screen adds and removes them. The screen loads them, not the page. */
import type { paths } from '../../api/generated/endpoints.d.ts';
import {
  type DecisionsSearch,
  type ExcludableName,
  FILTER_NAMES,
  type FilterName,
  MAX_EXCLUDED,
  type Range,
  ROUTINES,
  type Routine,
} from './search.ts';

type ListQuery = NonNullable<paths['/admin/api/decisions']['get']['parameters']['query']>;

/** A filter: only the entries with this value, or all entries but those. */
export interface EntryFilter {
  readonly name: FilterName;
  readonly value: string;
  readonly isExcluded: boolean;
}

/** Returns the hours of a range; undefined for all times. */
export function hoursOf(range: Range): number | undefined {
  return HOURS[range];
}

const HOURS: Readonly<Record<Range, number | undefined>> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720, all: undefined };

/** Filters as a request states them. */
export type RequestFilters = Omit<ListQuery, 'limit' | 'cursor' | 'order' | 'names'>;

/** Returns the filters of a request for entries. Relative times count back from `now`, in milliseconds since 1970. */
export function toFilters(search: DecisionsSearch, now: number): RequestFilters {
  const { range = '24h', from, to, entry: _, live: _live, order: _order, not, adminReads: __, refreshes: ___, ...filters } = search;
  const hours = hoursOf(range);
  const start = from ?? (hours === undefined || to !== undefined ? undefined : new Date(now - hours * 3_600_000).toISOString());
  const excluded = Object.entries(not ?? {}).map(([name, values]) => [name, toListText(values)] as const);
  return {
    ...(filters as RequestFilters),
    ...Object.fromEntries(hiddenRoutines(search).map((name) => [name, false])),
    ...(excluded.length > 0 && { not: Object.fromEntries(excluded) }),
    ...(start !== undefined && { from: start }),
    ...(to !== undefined && { to }),
  };
}

/**
 * Returns the routines whose entries are left out: those that are not shown, and none if the filters name one request. No other filter shows
 * them, so that the number beside a value is the number of entries after a click on it.
 */
export function hiddenRoutines(search: DecisionsSearch): readonly Routine[] {
  return search.requestId === undefined ? ROUTINES.filter((name) => search[name] !== true) : [];
}

/** Returns the state with the entries of a routine shown or hidden. */
export function showRoutine(search: DecisionsSearch, name: Routine, isShown: boolean): DecisionsSearch {
  const { [name]: _, ...others } = search;
  return isShown ? { ...others, [name]: true } : others;
}

/** Returns the state without filters: the time, and the routines that are shown. */
export function withoutFilters(search: DecisionsSearch): DecisionsSearch {
  return { ...(search.range !== undefined && { range: search.range }), ...shownRoutines(search) };
}

/** Returns the routines that are shown, as the state has them. */
export function shownRoutines(search: DecisionsSearch): Pick<DecisionsSearch, Routine> {
  return Object.fromEntries(ROUTINES.filter((name) => search[name] === true).map((name) => [name, true]));
}

/** Returns the reason why there are no entries: the filters, the time, or a log that has none. */
export function reasonOfNoEntries(search: DecisionsSearch): 'filters' | 'time' | 'log' {
  if (presentFilters(search).length > 0) return 'filters';
  return search.range === 'all' && search.from === undefined && search.to === undefined ? 'log' : 'time';
}

/** Renders the values of a list as one query parameter: `a,b`, or a JSON array if a value contains a comma. */
function toListText(values: readonly string[]): string {
  const isPlain = values.every((value) => !value.includes(',') && !value.startsWith('['));
  return isPlain ? values.join(',') : JSON.stringify(values);
}

/** Returns the query of a request, for requests that the typed client does not send. */
export function toParameters(filters: RequestFilters): readonly (readonly [name: string, value: string])[] {
  return Object.entries(filters).flatMap(([name, value]) =>
    typeof value === 'object'
      ? Object.entries(value).map(([member, values]) => [`${name}[${member}]`, String(values)] as const)
      : [[name, String(value)] as const],
  );
}

/** Returns true if a filter has an id for which people know a name. */
export function hasNamedFilter({ userId, policyId, ruleId }: DecisionsSearch): boolean {
  return [userId, policyId, ruleId].some((id) => id !== undefined);
}

/** Returns the filters that are set. */
export function presentFilters(search: DecisionsSearch): readonly EntryFilter[] {
  return FILTER_NAMES.flatMap((name) => [
    ...(search[name] === undefined ? [] : [{ name, value: String(search[name]), isExcluded: false }]),
    ...(name === 'allowed' ? [] : (search.not?.[name] ?? []).map((value) => ({ name, value, isExcluded: true }))),
  ]);
}

/** Returns the state with a filter added. It replaces the filters of the other kind on the same member. */
export function addFilter(search: DecisionsSearch, { name, value, isExcluded }: EntryFilter): DecisionsSearch {
  if (name === 'allowed') return { ...search, allowed: (value === 'true') !== isExcluded };
  if (!isExcluded) return { ...withExcluded(search, name, []), [name]: value };
  const { [name]: _, ...others } = search;
  const excluded = search.not?.[name] ?? [];
  return withExcluded(others, name, [...excluded.filter((each) => each !== value), value].slice(-MAX_EXCLUDED));
}

/** Returns the state without a filter. */
export function removeFilter(search: DecisionsSearch, { name, value, isExcluded }: EntryFilter): DecisionsSearch {
  if (isExcluded && name !== 'allowed') {
    const excluded = search.not?.[name] ?? [];
    return withExcluded(
      search,
      name,
      excluded.filter((each) => each !== value),
    );
  }
  const { [name]: _, ...others } = search;
  return others;
}

function withExcluded({ not = {}, ...others }: DecisionsSearch, name: ExcludableName, values: readonly string[]): DecisionsSearch {
  const { [name]: _, ...rest } = not;
  const changed = values.length === 0 ? rest : { ...rest, [name]: values };
  return Object.keys(changed).length === 0 ? others : { ...others, not: changed };
}
