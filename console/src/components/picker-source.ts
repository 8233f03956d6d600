/** The items of pickers, which the service searches. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

/** An item of a picker. */
export interface PickerItem {
  readonly value: string;
  readonly label: string;
}

/** The items that a picker offers. */
export interface PickerSource {
  /** Identifies the source in the cache of requests. */
  readonly key: readonly unknown[];
  /** Returns the items whose label contains the text. */
  search(text: string, signal: AbortSignal): Promise<readonly PickerItem[]>;
  /** Returns the item with this value; undefined if there is none. */
  find(value: string, signal: AbortSignal): Promise<PickerItem | undefined>;
}

/** The items that contain a text. Those of the former text stay until the next are loaded. */
export function itemsQuery({ key, search }: PickerSource, text: string) {
  return queryOptions({
    queryKey: [...key, 'search', text],
    queryFn: ({ signal }) => search(text, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

/** The item with a value; null if there is none. */
export function itemQuery({ key, find }: PickerSource, value: string) {
  return queryOptions({
    queryKey: [...key, 'item', value],
    queryFn: async ({ signal }) => (await find(value, signal)) ?? null,
    staleTime: 60_000,
  });
}
