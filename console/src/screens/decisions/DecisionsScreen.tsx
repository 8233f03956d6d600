import { Alert, Grid, Stack, Text } from '@mantine/core';
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { SideDialog } from '../../components/Dialog.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { EntryTable } from './EntryTable.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { createKnownNames } from './entry-names.ts';
import { Facets } from './FacetList.tsx';
import { FilterBar } from './FilterBar.tsx';
import { addFilter, type EntryFilter, hasNamedFilter, hiddenRoutines } from './filters.ts';
import { Histogram } from './Histogram.tsx';
import { IntegrityButton } from './IntegrityButton.tsx';
import { LiveTail } from './LiveTail.tsx';
import { NoEntries } from './NoEntries.tsx';
import { type EntryNames, type EntryPage, entriesQuery, facetsQuery, namesQuery } from './queries.ts';
import { decisionsRoute } from './route.ts';
import { SavedViews } from './SavedViews.tsx';
import type { DecisionsSearch } from './search.ts';
import { rememberedRoutines } from './shown-routines.ts';

// Loaded when the first entry opens, because most visits begin with the list.
const detail = createPart(async () => (await import('./DecisionDetail.tsx')).DecisionDetail);

/** The audit log. Without filters it opens as the user has left it; an address with filters may come from another user, and shows what they saw. */
export function DecisionsScreen() {
  const isBare = Object.keys(decisionsRoute.useSearch()).length === 0;
  const remembered = isBare ? rememberedRoutines() : {};
  return Object.keys(remembered).length > 0 ? <Navigate to="/decisions" search={remembered} replace /> : <AuditLog />;
}

/** A histogram, facets and entries that match the filters of the address; the entry that is open; new entries as they come. */
function AuditLog() {
  const { entry, live: isLive = false, ...search } = decisionsRoute.useSearch();
  const navigate = useNavigate({ from: '/decisions' });
  // Relative times count back from the moment at which the filters were chosen, so that all requests agree.
  const [now, setNow] = useState(() => Date.now());
  const { isAdmin, mayExport } = useAuditRights();
  const entries = useInfiniteQuery({ ...entriesQuery(search, now), enabled: !isLive });
  const [known] = useState(createKnownNames);
  // Without a list, the names of the filters come from an entry that matches them.
  const filtered = useQuery({ ...namesQuery(search, undefined), enabled: isLive && hasNamedFilter(search) });
  const names = known.add([...(entries.data?.pages ?? []), ...(filtered.data === undefined ? [] : [filtered.data])]);
  const show = (next: DecisionsSearch, follows = isLive): void => void navigate({ search: { ...next, ...(follows && { live: true }) } });
  const change = (next: DecisionsSearch): void => {
    setNow(Date.now());
    show(next);
  };
  const open = (id: string | undefined): void => show(id === undefined ? search : { ...search, entry: id });
  const filterBy = (filter: EntryFilter): void => change(addFilter(search, filter));
  return (
    <Page
      title={texts.title}
      description={isAdmin ? texts.description : texts.auditorDescription}
      actions={
        <>
          {isAdmin && <IntegrityButton />}
          <SavedViews search={search} onOpen={change} />
          <ExportMenu search={search} now={now} isDenied={!mayExport} />
        </>
      }
    >
      <FilterBar search={search} names={names} onChange={change} isLive={isLive} onLive={(follows) => show(search, follows)} />
      {isLive ? (
        <LiveTail search={search} names={names} onChange={change} onOpen={open} />
      ) : (
        <Results search={search} entries={entries} names={names} now={now} onChange={change} onOpen={open} />
      )}
      <SideDialog opened={entry !== undefined} onClose={() => open(undefined)} size="xl" title={texts.detail.title}>
        {entry !== undefined && <LazyPart key={entry} part={detail} props={{ id: entry, onFilter: filterBy }} lines={12} />}
      </SideDialog>
    </Page>
  );
}

interface ResultsProps {
  readonly search: DecisionsSearch;
  readonly entries: UseInfiniteQueryResult<InfiniteData<EntryPage>>;
  readonly names: EntryNames;
  readonly now: number;
  onChange(search: DecisionsSearch): void;
  onOpen(id: string): void;
}

function Results({ search, entries, names, now, onChange, onOpen }: ResultsProps) {
  const facets = useQuery(facetsQuery(search, now));
  const { data: loaded, isFetchNextPageError: hasFailed } = entries;
  // After a failure, only the button loads the page: the end of the list would request it without end.
  const mayLoad = entries.hasNextPage && !entries.isFetchingNextPage && !hasFailed;
  // Up to 100,000 entries, and this component renders with each page that a scroll loads.
  const all = useMemo(() => loaded?.pages.flatMap(({ data }) => data) ?? [], [loaded]);
  const warnings = loaded?.pages.flatMap((page) => page.warnings ?? []) ?? [];
  return (
    <>
      <Histogram search={search} now={now} onChange={onChange} />
      <Grid>
        <Grid.Col span={{ base: 12, md: 3, lg: 2 }}>
          <QueryState query={facets}>{(data) => <Facets facets={data} search={search} names={names} onChange={onChange} />}</QueryState>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 9, lg: 10 }}>
          <Stack gap="xs">
            {warnings.slice(0, 1).map((warning) => (
              <Alert key={warning} color="yellow">
                {isolateNames(warning)}
              </Alert>
            ))}
            <Text size="sm" c="dimmed">
              {facets.data === undefined || facets.isPlaceholderData
                ? texts.counting
                : texts.total(facets.data.total, hiddenRoutines(search))}
            </Text>
            <QueryState
              query={{ data: loaded, error: entries.error, refetch: hasFailed ? entries.fetchNextPage : entries.refetch }}
              lines={10}
            >
              {() =>
                all.length === 0 ? (
                  <NoEntries search={search} onChange={onChange} />
                ) : (
                  <EntryTable
                    entries={all}
                    names={names}
                    onOpen={onOpen}
                    onFilter={(filter) => onChange(addFilter(search, filter))}
                    onEnd={mayLoad ? () => void entries.fetchNextPage() : undefined}
                  />
                )
              }
            </QueryState>
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}
