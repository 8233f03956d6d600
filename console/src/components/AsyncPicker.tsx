import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { commonTexts } from '../texts/common.ts';

/** An item of a picker. */
export interface PickerItem {
  readonly value: string;
  readonly label: string;
}

/** Properties of a picker whose items the service searches. */
interface AsyncPickerProps {
  readonly label: string;
  readonly description?: ReactNode;
  readonly placeholder?: string;
  readonly value: string | undefined;
  readonly required?: boolean;
  readonly disabled?: boolean;
  /** The mistake of the value. */
  readonly error?: string;
  /** Identifies the search in the cache of requests. */
  readonly searchKey: readonly unknown[];
  /** Returns the items whose label contains the text. */
  search(text: string, signal: AbortSignal): Promise<readonly PickerItem[]>;
  /** Returns the item with this value; undefined if there is none. */
  find(value: string, signal: AbortSignal): Promise<PickerItem | undefined>;
  onChange(value: string | undefined): void;
}

/** A text field that suggests items while its user types, and shows the label of the chosen one. Any other text is accepted as a value. */
export function AsyncPicker({ value, searchKey, search, find, onChange, ...field }: AsyncPickerProps) {
  const [text, setText] = useState('');
  const [wasOpened, setWasOpened] = useState(false);
  const [asked] = useDebouncedValue(text, 200);
  const found = useQuery({
    queryKey: [...searchKey, 'search', asked],
    queryFn: ({ signal }) => search(asked, signal),
    placeholderData: keepPreviousData,
    // A form has many pickers, and each search has an entry in the audit log.
    enabled: wasOpened,
    staleTime: 30_000,
  });
  const chosen = useQuery({
    queryKey: [...searchKey, 'item', value],
    queryFn: async ({ signal }) => (await find(value ?? '', signal)) ?? null,
    enabled: value !== undefined,
    staleTime: 60_000,
  });
  const items = [...(found.data ?? [])];
  if (value !== undefined && !items.some((item) => item.value === value)) items.unshift(chosen.data ?? { value, label: value });
  if (text !== '' && !items.some((item) => item.value === text || item.label === text)) items.push({ value: text, label: text });
  return (
    <Select
      {...field}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': commonTexts.clear }}
      nothingFoundMessage={found.isFetching ? commonTexts.loading : commonTexts.none}
      data={items}
      value={value ?? null}
      // The service has searched already.
      filter={({ options }) => options}
      onDropdownOpen={() => setWasOpened(true)}
      onSearchChange={(typed) => setText(items.some(({ label }) => label === typed) ? '' : typed)}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
