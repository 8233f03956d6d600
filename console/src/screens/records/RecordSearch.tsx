import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { dataTexts } from '../../texts/data.ts';
import { changeSearchText, type RecordsSearch, searchTextOf } from './search.ts';

/** Milliseconds after the last letter. */
const DELAY = 250;

/** Properties of the search. */
interface RecordSearchProps {
  /** The field that names the records. */
  readonly field: string;
  readonly search: RecordsSearch;
  onChange(search: RecordsSearch): void;
}

/** Searches the records whose name contains a text. It is a comparison of the filter, so the address contains it. */
export function RecordSearch({ field, search, onChange }: RecordSearchProps) {
  const present = searchTextOf(search, field);
  const [typed, setTyped] = useState(present);
  const [applied, setApplied] = useState({ seen: present, sent: present });
  // The address has another text than the one that was typed: the filters were removed, or another address was opened.
  if (present !== applied.seen) {
    setApplied({ ...applied, seen: present });
    if (present !== applied.sent) setTyped(present);
  }
  const apply = useDebouncedCallback((text: string) => {
    setApplied((before) => ({ ...before, sent: text.trim() }));
    onChange(changeSearchText(search, field, text));
  }, DELAY);
  const label = dataTexts.filter.search(field);
  return (
    <TextInput
      data-search
      type="search"
      w={260}
      maw="100%"
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        apply(value);
      }}
    />
  );
}
