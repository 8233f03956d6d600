import { Switch, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { effectOf, type OwnResource, useOwnResource } from '../../api/own-resources.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { dataTexts as texts } from '../../texts/data.ts';
import { FilterForm } from './FilterForm.tsx';
import { OpenById } from './OpenById.tsx';
import { RecordActions } from './RecordActions.tsx';
import { RecordList } from './RecordList.tsx';
import { recordsRoute } from './route.ts';
import type { RecordsSearch } from './search.ts';
import { UnusableResource } from './UnusableResource.tsx';

/** The records of a resource that the caller may list. */
export function RecordsScreen() {
  const { resource: name } = recordsRoute.useParams();
  const resource = useOwnResource(name);
  return (
    <QueryState query={resource} lines={8}>
      {(found) => (found === null ? <UnusableResource name={name} /> : <Records key={name} resource={found} />)}
    </QueryState>
  );
}

function Records({ resource }: { readonly resource: OwnResource }) {
  const search = recordsRoute.useSearch();
  const navigate = useNavigate({ from: '/data/$resource' });
  const { definition } = resource;
  const change = (next: RecordsSearch): void => void navigate({ search: next, replace: true });
  return (
    <Page
      title={definition.name}
      description={definition.description ?? undefined}
      actions={<RecordActions resource={resource} search={search} />}
    >
      <FilterForm resource={resource} search={search} onChange={change} />
      {definition.softDelete === true && (
        <Switch
          label={texts.deleted}
          checked={search.deleted === true}
          onChange={({ currentTarget }) => change(currentTarget.checked ? { ...search, deleted: true } : withoutDeleted(search))}
        />
      )}
      {effectOf(resource, 'list') === 'deny' ? (
        <>
          <Text>{texts.refused('list')}</Text>
          {effectOf(resource, 'read') !== 'deny' && <OpenById resource={definition.name} />}
        </>
      ) : (
        // Another filter ends the selection: its records may no longer be in view.
        <RecordList key={JSON.stringify([search.where, search.deleted])} resource={resource} search={search} onChange={change} />
      )}
    </Page>
  );
}

function withoutDeleted({ deleted: _, ...search }: RecordsSearch): RecordsSearch {
  return search;
}
