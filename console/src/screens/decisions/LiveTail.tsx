import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { decisionsTexts } from '../../texts/decisions.ts';
import { EntryTable } from './EntryTable.tsx';
import { addFilter } from './filters.ts';
import type { EntryNames } from './queries.ts';
import type { DecisionsSearch } from './search.ts';
import { useLiveEntries } from './useLiveEntries.ts';
import { useTailNames } from './useTailNames.ts';

const texts = decisionsTexts.live;

/** Properties of the live tail. */
interface LiveTailProps {
  readonly search: DecisionsSearch;
  readonly names: EntryNames;
  onChange(search: DecisionsSearch): void;
  onOpen(id: string): void;
}

/** New entries that match the filters, as they are committed. While it is paused, new entries are kept and counted. */
export function LiveTail({ search, names: earlier, onChange, onOpen }: LiveTailProps) {
  const [isPaused, setPaused] = useState(false);
  const { entries, held, dropped, end, isReconnecting } = useLiveEntries(search, isPaused);
  const names = useTailNames(search, entries, earlier);
  return (
    <>
      <Group gap="sm">
        <Button variant="default" onClick={() => setPaused((paused) => !paused)}>
          {isPaused ? texts.resume : texts.pause}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {isPaused ? texts.held(held) : entries.length === 0 ? texts.waiting : decisionsTexts.shown(entries.length)}
        </Text>
      </Group>
      {isReconnecting && (
        <Alert color="yellow" role="status">
          {texts.reconnecting}
        </Alert>
      )}
      {dropped > 0 && <Alert color="yellow">{texts.dropped(dropped)}</Alert>}
      {end !== undefined && <Alert color="yellow">{texts.ended(end)}</Alert>}
      {entries.length > 0 && (
        <EntryTable
          growsAtStart
          entries={entries}
          names={names}
          onOpen={onOpen}
          onFilter={(filter) => onChange(addFilter(search, filter))}
        />
      )}
    </>
  );
}
