import { TextInput } from '@mantine/core';
import { useDelayedText } from '../../components/useTypedText.ts';
import { dataTexts } from '../../texts/data.ts';
import { changeSearchText, type RecordsSearch, searchTextOf } from './search.ts';

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
  const input = useDelayedText(present, (text) => onChange(changeSearchText(search, field, text)));
  const label = dataTexts.filter.search(field);
  return <TextInput data-search type="search" w={260} maw="100%" aria-label={label} placeholder={label} {...input} />;
}
