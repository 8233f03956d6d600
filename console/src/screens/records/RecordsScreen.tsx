import { Alert, Button, Stack, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { effectOf, type OwnResource, useOwnResource } from '../../api/own-resources.ts';
import { ownCatalogueQuery } from '../../api/queries.ts';
import type { Row } from '../../api/records.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadMore } from '../../components/LoadMore.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { FieldValue } from '../../components/record-form/FieldValue.tsx';
import type { Field } from '../../components/record-form/form-values.ts';
import { labelField, labelOf } from '../../components/record-labels.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { FilterForm } from './FilterForm.tsx';
import { recordsQuery } from './queries.ts';
import { RecordActions } from './RecordActions.tsx';
import { RestoreButton } from './RestoreButton.tsx';
import { recordsRoute } from './route.ts';
import type { RecordsSearch } from './search.ts';
import { tableFields } from './table-fields.ts';

/** The records of a resource that the caller may list. */
export function RecordsScreen() {
  const { resource: name } = recordsRoute.useParams();
  const resource = useOwnResource(name);
  return (
    <QueryState query={resource} lines={8}>
      {(found) =>
        found === null ? <EmptyState title={texts.none.title} detail={texts.none.detail} /> : <Records key={name} resource={found} />
      }
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
        <Text>{texts.refused('list')}</Text>
      ) : (
        <RecordList resource={resource} search={search} onChange={change} />
      )}
    </Page>
  );
}

interface RecordListProps {
  readonly resource: OwnResource;
  readonly search: RecordsSearch;
  onChange(search: RecordsSearch): void;
}

function RecordList({ resource, search, onChange }: RecordListProps) {
  const { definition } = resource;
  const navigate = useNavigate();
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const resources = catalogue?.resources ?? [];
  const fields = tableFields(definition.fields);
  const expand = fields.filter(({ to }) => resources.some((each) => each.definition.name === to)).map(({ name }) => name);
  const records = useInfiniteQuery(recordsQuery(definition.name, search, expand));
  const isDeleted = search.deleted === true;
  const restore: Column<Row> = { key: 'restore', title: '', render: (row) => <RestoreButton resource={definition.name} row={row} /> };
  const columns = [...columnsOf(fields, resources), ...(isDeleted ? [restore] : [])];
  const open = (id: string): void => void navigate({ to: '/data/$resource/$id', params: { resource: definition.name, id } });
  return (
    <QueryState query={records} lines={10}>
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data);
        const total = pages[0]?.total;
        const [warning] = pages.flatMap(({ warnings = [] }) => warnings);
        if (rows.length === 0) return <NoRecords resource={resource} search={search} onChange={onChange} />;
        return (
          <Stack gap="sm">
            {total !== undefined && (
              <Text size="sm" c="dimmed">
                {texts.total(total)}
              </Text>
            )}
            {warning !== undefined && <Alert color="yellow">{isolateNames(warning)}</Alert>}
            <DataTable
              label={definition.name}
              columns={columns}
              items={rows}
              idOf={({ id }) => id}
              order={search.sort}
              onSort={(sort) => onChange({ ...search, sort })}
              // A deleted record cannot be read by its id.
              {...(!isDeleted && { onOpen: ({ id }: Row) => open(id) })}
            />
            <LoadMore query={records} />
          </Stack>
        );
      }}
    </QueryState>
  );
}

function NoRecords({ resource, search, onChange }: RecordListProps) {
  const navigate = useNavigate();
  const { title, filtered, deleted, unfiltered, action } = texts.empty;
  if (search.where !== undefined) {
    return <EmptyState title={title} detail={filtered} action={<DefaultButton label={action} onClick={() => onChange({})} />} />;
  }
  if (search.deleted === true) return <EmptyState title={title} detail={deleted} />;
  const create = () => void navigate({ to: '/data/$resource/new', params: { resource: resource.definition.name } });
  const mayCreate = effectOf(resource, 'create') !== 'deny';
  return (
    <EmptyState title={title} detail={unfiltered} action={mayCreate && <DefaultButton label={texts.createFirst} onClick={create} />} />
  );
}

function DefaultButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <Button variant="default" onClick={onClick}>
      {label}
    </Button>
  );
}

function columnsOf(fields: readonly Field[], resources: readonly OwnResource[]): readonly Column<Row>[] {
  const labels = new Map(resources.map(({ definition }) => [definition.name, labelField(definition)]));
  const labelIn = (row: Row, { name, to = '' }: Field): string | undefined => {
    const target = row.expand?.[name];
    return target ? labelOf(target, labels.get(to)) : undefined;
  };
  return fields.map((field) => ({
    key: field.name,
    title: field.name,
    ...(field.operators.includes('gt') && { sort: field.name }),
    render: (row) => <FieldValue field={field} value={row[field.name]} label={labelIn(row, field)} />,
  }));
}

function withoutDeleted({ deleted: _, ...search }: RecordsSearch): RecordsSearch {
  return search;
}
