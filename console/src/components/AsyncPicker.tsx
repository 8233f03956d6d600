import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { itemQuery, itemsQuery, type PickerSource } from './picker-source.ts';

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
  readonly source: PickerSource;
  onChange(value: string | undefined): void;
}

/** A text field that suggests items while its user types, and shows the label of the chosen one. Any other text is accepted as a value. */
export function AsyncPicker({ value, source, onChange, ...field }: AsyncPickerProps) {
  const [text, setText] = useState('');
  const [wasOpened, setWasOpened] = useState(false);
  const [asked] = useDebouncedValue(text, 200);
  // A form has many pickers, and each search has an entry in the audit log.
  const found = useQuery({ ...itemsQuery(source, asked), enabled: wasOpened });
  const chosen = useQuery({ ...itemQuery(source, value ?? ''), enabled: value !== undefined });
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
