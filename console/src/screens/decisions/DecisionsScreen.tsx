import { Alert, Drawer, Grid, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { DecisionDetail } from './DecisionDetail.tsx';
import { EntryTable } from './EntryTable.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { mergeNames } from './entry-names.ts';
import { FacetList } from './FacetList.tsx';
import { FilterBar } from './FilterBar.tsx';
import { Histogram } from './Histogram.tsx';
import { IntegrityButton } from './IntegrityButton.tsx';
import { LiveTail } from './LiveTail.tsx';
import { entriesQuery, facetsQuery } from './queries.ts';
import { decisionsRoute } from './route.ts';
import { SavedViews } from './SavedViews.tsx';
import type { DecisionsSearch } from './search.ts';

/** The audit log: a histogram, facets and entries that match the filters of the address; the entry that is open; new entries as they come. */
export function DecisionsScreen() {
  const { entry, ...search } = decisionsRoute.useSearch();
  const navigate = useNavigate({ from: '/decisions' });
  // Relative times count back from the moment at which the filters were chosen, so that all requests agree.
  const [now, setNow] = useState(() => Date.now());
  const [isLive, setLive] = useState(false);
  const change = (next: DecisionsSearch): void => {
    setNow(Date.now());
    void navigate({ search: next });
  };
  const open = (id: string | undefined): void => void navigate({ search: id === undefined ? search : { ...search, entry: id } });
  return (
    <Page
      title={texts.title}
      description={texts.description}
      actions={
        <>
          <IntegrityButton />
          <SavedViews search={search} onOpen={change} />
          <ExportMenu search={search} now={now} />
        </>
      }
    >
      <FilterBar search={search} onChange={change} isLive={isLive} onLive={setLive} />
      {isLive ? <LiveTail search={search} onOpen={open} /> : <Results search={search} now={now} onChange={change} onOpen={open} />}
      <Drawer opened={entry !== undefined} onClose={() => open(undefined)} size="xl" title={texts.detail.title}>
        {entry !== undefined && <DecisionDetail id={entry} />}
      </Drawer>
    </Page>
  );
}

interface ResultsProps {
  readonly search: DecisionsSearch;
  readonly now: number;
  onChange(search: DecisionsSearch): void;
  onOpen(id: string): void;
}

function Results({ search, now, onChange, onOpen }: ResultsProps) {
  const facets = useQuery(facetsQuery(search, now));
  const entries = useInfiniteQuery(entriesQuery(search, now));
  const names = mergeNames(entries.data?.pages.map((page) => page.names) ?? []);
  const warnings = entries.data?.pages.flatMap((page) => page.warnings ?? []) ?? [];
  return (
    <>
      <Histogram search={search} now={now} onChange={onChange} />
      <Grid>
        <Grid.Col span={{ base: 12, md: 3, lg: 2 }}>
          <QueryState query={facets}>{(data) => <FacetList facets={data} search={search} names={names} onChange={onChange} />}</QueryState>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 9, lg: 10 }}>
          <Stack gap="xs">
            {warnings.slice(0, 1).map((warning) => (
              <Alert key={warning} color="yellow">
                {warning}
              </Alert>
            ))}
            {facets.data !== undefined && (
              <Text size="sm" c="dimmed">
                {texts.total(facets.data.total)}
              </Text>
            )}
            <QueryState query={entries} lines={10}>
              {({ pages }) => (
                <EntryTable
                  entries={pages.flatMap(({ data }) => data)}
                  names={pages.map(({ names }) => names)}
                  onOpen={onOpen}
                  onEnd={entries.hasNextPage && !entries.isFetchingNextPage ? () => void entries.fetchNextPage() : undefined}
                  onClear={() => onChange({ range: 'all' })}
                />
              )}
            </QueryState>
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}
