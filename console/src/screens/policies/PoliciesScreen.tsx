import { Button, Stack } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { downloadFile, saveFile } from '../../api/download.ts';
import { type PolicyFilter, type PolicySummary, policiesQuery } from '../../api/policies.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { presentItems, type Selection } from '../../components/selection.ts';
import { selectionColumn } from '../../components/selection-column.tsx';
import { useListFocus } from '../../components/useListFocus.ts';
import { policiesTexts as texts } from '../../texts/policies.ts';
import { BulkActions } from './BulkActions.tsx';
import { PolicyFilters } from './PolicyFilters.tsx';
import { policyColumns } from './policy-columns.tsx';
import { policiesRoute } from './route.ts';

/** The list of policies: filters, order, selection, creation, import and export. */
export function PoliciesScreen() {
  const filter = policiesRoute.useSearch();
  const navigate = useNavigate({ from: policiesRoute.fullPath });
  const change = (next: { readonly [Name in keyof PolicyFilter]?: PolicyFilter[Name] | undefined }) =>
    void navigate({ search: (present) => withoutUndefined({ ...present, ...next }), replace: true });
  const clear = (): void => void navigate({ search: {}, replace: true });
  return (
    <Page title={texts.title} actions={<ListActions />}>
      <PolicyFilters filter={filter} onChange={change} onClear={clear} />
      {/* Another filter ends the selection: its policies may no longer be in view. */}
      <PolicyList key={JSON.stringify({ ...filter, sort: undefined })} filter={filter} onChange={change} onClear={clear} />
    </Page>
  );
}

interface PolicyListProps {
  readonly filter: PolicyFilter;
  onChange(change: PolicyFilter): void;
  onClear(): void;
}

/** The policies of a list in pages, with the actions on those that are selected. */
function PolicyList({ filter, onChange, onClear }: PolicyListProps) {
  const navigate = useNavigate({ from: policiesRoute.fullPath });
  const query = useInfiniteQuery(policiesQuery(filter));
  const [selected, setSelected] = useState<Selection<PolicySummary>>(new Map());
  const loaded = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const list = useListFocus(selected, loaded);
  return (
    <Stack ref={list} gap="md" tabIndex={-1} style={{ outline: 'none' }}>
      {selected.size > 0 && <BulkActions policies={presentItems(selected, loaded)} onDone={() => setSelected(new Map())} />}
      <PagedState query={query} lines={10}>
        {(items) =>
          items.length === 0 ? (
            <NoPolicies isFiltered={Object.keys(filter).some((name) => name !== 'sort')} onClear={onClear} />
          ) : (
            <DataTable
              label={texts.list}
              columns={[
                selectionColumn({ items, selected, labelOf: ({ name }) => texts.select(name), onChange: setSelected }),
                ...policyColumns,
              ]}
              items={items}
              idOf={({ id }) => id}
              onOpen={({ id }) => void navigate({ to: '/policies/$id', params: { id } })}
              order={filter.sort}
              onSort={(sort) => onChange({ sort: sort as NonNullable<PolicyFilter['sort']> })}
            />
          )
        }
      </PagedState>
    </Stack>
  );
}

function ListActions() {
  return (
    <>
      <Button component={Link} to="/policies/changes" variant="default">
        {texts.changes}
      </Button>
      <ExportButton />
      <Button component={Link} to="/policies/import" variant="default">
        {texts.import}
      </Button>
      <Button component={Link} to="/policies/new">
        {texts.new}
      </Button>
    </>
  );
}

/** Downloads all policies. */
function ExportButton() {
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => downloadFile({ url: EXPORT }).then((file) => saveFile(file, 'policies.json')),
  });
  return (
    <>
      <Button variant="default" loading={isPending} onClick={() => mutate()}>
        {texts.export}
      </Button>
      {error !== null && <ProblemAlert error={error} onRetry={() => mutate()} />}
    </>
  );
}

const EXPORT = new URL('/admin/api/policies/export?format=json', location.origin);

function NoPolicies({ isFiltered, onClear }: { readonly isFiltered: boolean; onClear(): void }) {
  if (isFiltered) {
    return (
      <EmptyState
        title={texts.noMatch.title}
        action={
          <Button variant="default" onClick={onClear}>
            {texts.filters.clear}
          </Button>
        }
      />
    );
  }
  return (
    <EmptyState
      {...texts.empty}
      action={
        <Button component={Link} to="/policies/new">
          {texts.new}
        </Button>
      }
    />
  );
}

function withoutUndefined(filter: { readonly [Name in keyof PolicyFilter]?: PolicyFilter[Name] | undefined }): PolicyFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
