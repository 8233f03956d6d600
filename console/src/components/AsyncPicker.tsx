import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ProblemAlert } from './ProblemAlert.tsx';
import { itemQuery, type PickerSource } from './picker-source.ts';
import { useFoundItems } from './useFoundItems.ts';

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

/** A text field that suggests items while its user types, and shows the label of the chosen one. Any text that is the label of no item is accepted as a value. */
export function AsyncPicker({ value, source, onChange, ...own }: AsyncPickerProps) {
  const [text, setText] = useState('');
  const { found, isKnown, failure, retry, field } = useFoundItems(source, text);
  const chosen = useQuery({ ...itemQuery(source, value ?? ''), enabled: value !== undefined });
  const items = [...found];
  if (value !== undefined && !items.some((item) => item.value === value)) items.unshift(chosen.data ?? { value, label: value });
  // Until the search has succeeded, the text may be the label of an item that it finds.
  if (text !== '' && isKnown && !items.some((item) => item.value === text || item.label === text)) items.push({ value: text, label: text });
  return (
    <>
      <Select
        {...own}
        {...field}
        data={items}
        value={value ?? null}
        // The field shows the label of the chosen item, for which nothing is searched. The label of another item was typed.
        onSearchChange={(typed) => setText(items.some((item) => item.value === value && item.label === typed) ? '' : typed)}
        onChange={(next) => onChange(next ?? undefined)}
      />
      {failure !== null && <ProblemAlert error={failure} onRetry={retry} />}
    </>
  );
}
