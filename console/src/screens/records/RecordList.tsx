import { Alert, Button, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { effectOf, type OwnResource } from '../../api/own-resources.ts';
import { ownCatalogueQuery } from '../../api/queries.ts';
import type { Row } from '../../api/records.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { LoadMore } from '../../components/LoadMore.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { FieldValue } from '../../components/record-form/FieldValue.tsx';
import type { Field } from '../../components/record-form/form-values.ts';
import { labelField, labelOf } from '../../components/record-labels.ts';
import { presentItems, type Selection } from '../../components/selection.ts';
import { selectionColumn } from '../../components/selection-column.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useListFocus } from '../../components/useListFocus.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import type { BulkBarProps } from './bulk/BulkBar.tsx';
import type { BulkResultsProps } from './bulk/BulkResults.tsx';
import type { BulkOutcome } from './bulk/bulk-change.ts';
import { recordsQuery } from './queries.ts';
import { RestoreButton } from './RestoreButton.tsx';
import type { RecordsSearch } from './search.ts';
import { tableFields } from './table-fields.ts';

// Most visits select nothing.
const bulkBar = createPart<BulkBarProps>(async () => (await import('./bulk/BulkBar.tsx')).BulkBar);
const bulkResults = createPart<BulkResultsProps>(async () => (await import('./bulk/BulkResults.tsx')).BulkResults);

interface RecordListProps {
  readonly resource: OwnResource;
  readonly search: RecordsSearch;
  onChange(search: RecordsSearch): void;
}

/** The records of a list in pages, with the actions on those that are selected. */
export function RecordList({ resource, search, onChange }: RecordListProps) {
  const { definition } = resource;
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const resources = catalogue?.resources ?? [];
  const fields = tableFields(definition.fields);
  const expand = fields.filter(({ to }) => resources.some((each) => each.definition.name === to)).map(({ name }) => name);
  const records = useInfiniteQuery(recordsQuery(definition.name, search, expand));
  const [selected, onSelect] = useState<Selection<Row>>(new Map());
  const [outcome, onOutcome] = useState<BulkOutcome>();
  const rows = records.data?.pages.flatMap(({ data }) => data) ?? [];
  const list = useListFocus(selected, rows);
  return (
    <div ref={list} tabIndex={-1} style={{ outline: 'none' }}>
      <QueryState query={records} lines={10}>
        {({ pages }) => {
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
              <RecordTable
                columns={columnsOf(fields, resources, { resource: definition, isDeleted: search.deleted === true })}
                {...{ resource, rows, search, onChange, selected, onSelect, outcome, onOutcome }}
              />
              <LoadMore query={records} />
            </Stack>
          );
        }}
      </QueryState>
    </div>
  );
}

interface RecordTableProps extends RecordListProps {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly selected: Selection<Row>;
  /** The results of the last change, if some records were refused. */
  readonly outcome: BulkOutcome | undefined;
  onSelect(selected: Selection<Row>): void;
  onOutcome(outcome: BulkOutcome | undefined): void;
}

/** The loaded records in a table whose rows can be selected. */
function RecordTable({ resource, columns, rows, search, onChange, selected, outcome, onSelect, onOutcome }: RecordTableProps) {
  const { definition } = resource;
  const navigate = useNavigate();
  const isDeleted = search.deleted === true;
  const restore: Column<Row> = { key: 'restore', title: '', render: (row) => <RestoreButton resource={definition.name} row={row} /> };
  const labelOfRow = (row: Row): string => texts.bulk.select(labelOf(row, labelField(definition)));
  const select = selectionColumn({ items: rows, selected, labelOf: labelOfRow, onChange: onSelect });
  const finish = (next: BulkOutcome): void => {
    onSelect(byId(next.refused.map(({ row }) => row)));
    onOutcome(next.refused.length === 0 ? undefined : next);
  };
  const bar: BulkBarProps = {
    ...{ resource, isDeleted, rows: presentItems(selected, rows), loaded: rows.length },
    onSelectLoaded: () => onSelect(byId(rows)),
    onClear: () => onSelect(new Map()),
    onDone: finish,
  };
  return (
    <>
      {outcome && <LazyPart part={bulkResults} props={{ resource, outcome, onClose: () => onOutcome(undefined) }} lines={2} />}
      {selected.size > 0 && <LazyPart part={bulkBar} props={bar} lines={1} />}
      <DataTable
        label={definition.name}
        columns={[select, ...columns, ...(isDeleted ? [restore] : [])]}
        items={rows}
        idOf={({ id }) => id}
        order={search.sort}
        onSort={(sort) => onChange({ ...search, sort })}
        onOpen={({ id }) =>
          void navigate({
            to: '/data/$resource/$id',
            params: { resource: definition.name, id },
            search: isDeleted ? { deleted: true } : {},
          })
        }
      />
    </>
  );
}

function byId(rows: readonly Row[]): Selection<Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function NoRecords({ resource, search, onChange }: RecordListProps) {
  const navigate = useNavigate();
  const { title, filtered, deleted, none, unfiltered, action } = texts.empty;
  if (search.where !== undefined) {
    return <EmptyState title={title} detail={filtered} action={<DefaultButton label={action} onClick={() => onChange({})} />} />;
  }
  if (search.deleted === true)
    return (
      <EmptyState title={title} detail={deleted} action={<DefaultButton label={texts.empty.present} onClick={() => onChange({})} />} />
    );
  const create = () => void navigate({ to: '/data/$resource/new', params: { resource: resource.definition.name } });
  const mayCreate = effectOf(resource, 'create') !== 'deny';
  // Only rules with conditions can hide records from the list.
  const detail = effectOf(resource, 'list') === 'allow' ? none : unfiltered;
  return <EmptyState title={title} detail={detail} action={mayCreate && <DefaultButton label={texts.createFirst} onClick={create} />} />;
}

function DefaultButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <Button variant="default" onClick={onClick}>
      {label}
    </Button>
  );
}

interface ListedRecords {
  readonly resource: OwnResource['definition'];
  readonly isDeleted: boolean;
}

function columnsOf(fields: readonly Field[], resources: readonly OwnResource[], listed: ListedRecords): readonly Column<Row>[] {
  const title = labelField(listed.resource);
  const labels = new Map(resources.map(({ definition }) => [definition.name, labelField(definition)]));
  const labelIn = (row: Row, { name, to = '' }: Field): string | undefined => {
    const target = row.expand?.[name];
    return target ? labelOf(target, labels.get(to)) : undefined;
  };
  return fields.map((field) => ({
    key: field.name,
    title: field.name,
    ...(field.operators.includes('gt') && { sort: field.name }),
    render: (row) => {
      const value = <FieldValue field={field} value={row[field.name]} label={labelIn(row, field)} />;
      if (field.name !== title || typeof row[title] !== 'string') return value;
      return (
        // Tab reaches the row, which Enter opens.
        <TextLink
          to="/data/$resource/$id"
          params={{ resource: listed.resource.name, id: row.id }}
          search={listed.isDeleted ? { deleted: true } : {}}
          tabIndex={-1}
          size="sm"
        >
          {value}
        </TextLink>
      );
    },
  }));
}
