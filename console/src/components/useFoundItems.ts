import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { itemsQuery, type PickerItem, type PickerSource } from './picker-source.ts';

/**
 * The items that the service has found for the text of a picker, and the properties of a field that offers them. `isKnown` is false while the search runs
 * and after it has failed.
 */
export function useFoundItems(source: PickerSource, text: string) {
  const [wasOpened, setWasOpened] = useState(false);
  const [asked] = useDebouncedValue(text.trim(), 200);
  // A form has many pickers, and each search has an entry in the audit log.
  const query = useQuery({ ...itemsQuery(source, asked), enabled: wasOpened });
  const found: readonly PickerItem[] = query.data ?? [];
  // Until the search for the present text has ended, the items are those of an earlier text.
  const isSearching = wasOpened && (asked !== text.trim() || query.isFetching);
  const failure = query.error;
  const field = {
    searchable: true,
    clearable: true,
    clearButtonProps: { 'aria-label': commonTexts.clear },
    nothingFoundMessage: isSearching ? commonTexts.loading : failure === null && commonTexts.none,
    // The service has searched already.
    filter: <Options>({ options }: { readonly options: Options }): Options => options,
    onDropdownOpen: () => setWasOpened(true),
  };
  return { found, isKnown: !isSearching && failure === null, failure, retry: query.refetch, field };
}
