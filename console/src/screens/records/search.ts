/** The state of a list of records: the search parameters of its address. */

/** A comparison of a filter. */
export interface Comparison {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}

/** The state of the list. */
export interface RecordsSearch {
  /** The filter of the API, as an object. */
  readonly where?: Readonly<Record<string, unknown>>;
  /** A sort key; descending with a leading `-`. */
  readonly sort?: string;
  /** True for the list of soft-deleted records. */
  readonly deleted?: boolean;
}

/** Reads the state from an address. */
export function validateRecordsSearch({ where, sort, deleted }: Record<string, unknown>): RecordsSearch {
  return {
    ...(typeof where === 'object' && where !== null && !Array.isArray(where) && { where: where as Record<string, unknown> }),
    ...(typeof sort === 'string' && sort !== '' && { sort }),
    ...(deleted === true && { deleted }),
  };
}

/** The state of the screen of one record: true for a soft-deleted one. */
export type RecordSearch = Pick<RecordsSearch, 'deleted'>;

/** Reads the state of one record from an address. */
export function validateRecordSearch({ deleted }: Record<string, unknown>): RecordSearch {
  return deleted === true ? { deleted } : {};
}

/** Returns the comparisons of a filter. */
export function toComparisons(where: Readonly<Record<string, unknown>> | undefined): readonly Comparison[] {
  const comparisons: Comparison[] = [];
  for (const [field, condition] of Object.entries(where ?? {})) {
    if (typeof condition !== 'object' || condition === null || Array.isArray(condition))
      comparisons.push({ field, operator: 'eq', value: condition });
    else for (const [operator, value] of Object.entries(condition)) comparisons.push({ field, operator, value });
  }
  return comparisons;
}

/** Returns the filter of comparisons, all of which must hold; undefined without any. */
export function toWhere(comparisons: readonly Comparison[]): Readonly<Record<string, unknown>> | undefined {
  if (comparisons.length === 0) return undefined;
  const where: Record<string, Record<string, unknown>> = {};
  for (const { field, operator, value } of comparisons) where[field] = { ...where[field], [operator]: value };
  return where;
}

/** The operator of the search field: it finds texts in any case. */
export const SEARCH_OPERATOR = 'icontains';

/** Returns the text of the search field; empty if the filter does not contain it. */
export function searchTextOf({ where }: RecordsSearch, field: string | undefined): string {
  const found = toComparisons(where).find((each) => each.field === field && each.operator === SEARCH_OPERATOR);
  return typeof found?.value === 'string' ? found.value : '';
}

/** Returns the state with another text of the search field. An empty text removes it. */
export function changeSearchText(search: RecordsSearch, field: string, text: string): RecordsSearch {
  const others = toComparisons(search.where).filter((each) => each.field !== field || each.operator !== SEARCH_OPERATOR);
  const comparisons = text.trim() === '' ? others : [...others, { field, operator: SEARCH_OPERATOR, value: text.trim() }];
  return withComparisons(search, comparisons);
}

/** Returns the state with another filter. */
export function withComparisons({ where: _, ...others }: RecordsSearch, comparisons: readonly Comparison[]): RecordsSearch {
  const where = toWhere(comparisons);
  return { ...others, ...(where && { where }) };
}
