import { Grid, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hasCode } from '../../api/problem.ts';
import { loadRecord, type Row, sendRecordRequest } from '../../api/records.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { labelField, labelOf } from '../../components/record-labels.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { Conflict, type ConflictState } from './Conflict.tsx';
import { DeleteRecord } from './DeleteRecord.tsx';
import { FieldValue } from './FieldValue.tsx';
import { OwnPermissions } from './OwnPermissions.tsx';
import { type OwnResource, ownPermissionsQuery, recordQuery } from './queries.ts';
import { RecordForm } from './RecordForm.tsx';
import { recordRoute } from './route.ts';
import { useOwnResource } from './useOwnResource.ts';

/** A record: its form, what the service sets, and what the caller may do with it. */
export function RecordScreen() {
  const { resource: name, id } = recordRoute.useParams();
  const resource = useOwnResource(name);
  const record = useQuery(recordQuery(name, id));
  return (
    <QueryState query={resource} lines={8}>
      {(found) =>
        found === null ? (
          <EmptyState title={texts.none.title} detail={texts.none.detail} />
        ) : (
          <>
            <QueryState query={record} lines={8}>
              {(row) => <StoredRecord key={`${id} ${row.version}`} resource={found} row={row} />}
            </QueryState>
            {hasCode(record.error, 'ACCESS_DENIED') && record.data === undefined && <RefusedRecord resource={name} id={id} />}
          </>
        )
      }
    </QueryState>
  );
}

/** The actions that the caller may perform on a record that they may not read, and the way back to the list. */
function RefusedRecord({ resource, id }: { readonly resource: string; readonly id: string }) {
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(resource, id));
  return (
    <Stack mt="md" align="flex-start">
      <OwnPermissions permissions={permissions} />
      <TextLink to="/data/$resource" params={{ resource }}>
        {texts.record.back(resource)}
      </TextLink>
    </Stack>
  );
}

function StoredRecord({ resource, row }: { readonly resource: OwnResource; readonly row: Row }) {
  const { definition } = resource;
  const { mayRead } = useAuditRights();
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(definition.name, row.id));
  const denied = permissions.find(({ action, effect }) => action === 'update' && effect === 'deny');
  const { save, conflict } = useSaving(definition.name, row);
  return (
    <Page
      title={labelOf(row, labelField(definition))}
      description={`${definition.name} · ${row.id}`}
      actions={
        <>
          {mayRead && (
            <TextLink to="/decisions" search={{ recordId: row.id, range: 'all' }} size="sm">
              {texts.record.decisions}
            </TextLink>
          )}
          <DeleteRecord
            resource={definition.name}
            row={row}
            denied={permissions.find(({ action, effect }) => action === 'delete' && effect === 'deny')?.reason}
          />
        </>
      }
    >
      <Grid>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          {conflict && <Conflict definition={definition} conflict={conflict} />}
          <RecordForm resource={resource} row={row} submit={texts.record.save} refusal={denied?.reason} save={save} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Stack>
            <ServiceFields definition={definition} row={row} />
            <OwnPermissions permissions={permissions} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** Saves a record with its version. If it was changed meanwhile, loads the stored values for a comparison. */
function useSaving(resource: string, row: Row) {
  const queryClient = useQueryClient();
  const [conflict, setConflict] = useState<ConflictState>();
  const path = `${encodeURIComponent(resource)}/${encodeURIComponent(row.id)}`;
  const write = async (body: Readonly<Record<string, unknown>>, version: number | undefined): Promise<void> => {
    await sendRecordRequest(path, { method: 'PUT', body, version });
    notifySuccess(texts.record.saved);
    setConflict(undefined);
    await queryClient.invalidateQueries({ queryKey: ['records', resource] });
  };
  const save = async (body: Readonly<Record<string, unknown>>): Promise<void> => {
    try {
      await write(body, row.version);
    } catch (error) {
      if (!hasCode(error, 'RECORD_VERSION')) throw error;
      const stored = await loadRecord(resource, row.id);
      setConflict({
        mine: body,
        stored,
        keepMine: () => write(body, stored.version),
        takeTheirs: () => queryClient.invalidateQueries({ queryKey: ['records', resource] }),
      });
    }
  };
  return { save, conflict };
}

function ServiceFields({ definition, row }: { readonly definition: OwnResource['definition']; readonly row: Row }) {
  const fields = definition.fields.filter(({ readOnly, immutable, writeOnly }) => (readOnly || immutable) && !writeOnly);
  return (
    <Table variant="vertical" withTableBorder layout="fixed">
      <Table.Tbody>
        {fields.map((field) => (
          <Table.Tr key={field.name}>
            <Table.Th w={140}>{field.name}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              {field.name in row ? <FieldValue field={field} value={row[field.name]} /> : <Text c="dimmed">{texts.record.unset}</Text>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
