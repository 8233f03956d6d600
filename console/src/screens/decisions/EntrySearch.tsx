import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';
import { entryLookups, findEntries } from './entry-search.ts';
import type { DecisionsSearch } from './search.ts';

const texts = decisionsTexts.search;

/** Finds entries by the id of a request, record or entry, or by an address. */
export function EntrySearch({ onFind }: { onFind(search: DecisionsSearch): void }) {
  const [text, setText] = useState('');
  const find = useMutation({
    // Undefined is no result for a mutation.
    mutationFn: async (given: string) => (await findEntries(given, entryLookups)) ?? null,
  });
  // Only while the screen shows the text that was searched.
  const search = (): void => find.mutate(text, { onSuccess: (found) => found && onFind(found) });
  return (
    <>
      <form
        style={{ maxWidth: '100%', flex: '0 1 390px' }}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') search();
        }}
      >
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            data-search
            type="search"
            flex="1 1 300px"
            miw={0}
            aria-label={texts.label}
            placeholder={texts.placeholder}
            value={text}
            error={find.data === null && texts.none}
            onChange={({ currentTarget }) => {
              setText(currentTarget.value);
              find.reset();
            }}
          />
          <Button type="submit" variant="default" loading={find.isPending} style={{ flexShrink: 0 }}>
            {texts.find}
          </Button>
        </Group>
      </form>
      {find.error !== null && <ProblemAlert error={find.error} onRetry={search} />}
    </>
  );
}
