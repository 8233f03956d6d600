import { Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Definition, type OwnResource, ownPermissionsQuery, useOwnResource } from '../../api/own-resources.ts';
import { hasCode, RequestError } from '../../api/problem.ts';
import type { Row } from '../../api/records.ts';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { FieldTable } from '../../components/record-form/FieldTable.tsx';
import { StoredRecordForm } from '../../components/record-form/StoredRecordForm.tsx';
import { labelField, labelOf } from '../../components/record-labels.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { useCaller } from '../../shell/useSession.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { sentence } from '../../texts/sentence.ts';
import type { DeletedRecordProps } from './DeletedRecord.tsx';
import { DeleteRecord } from './DeleteRecord.tsx';
import { OwnPermissions } from './OwnPermissions.tsx';
import { recordQuery } from './queries.ts';
import classes from './record.module.css';
import { recordRoute } from './route.ts';
import { UnusableResource } from './UnusableResource.tsx';

const deletedRecord = createPart<DeletedRecordProps>(async () => (await import('./DeletedRecord.tsx')).DeletedRecord);

/** A record: its form, what the service sets, and what the caller may do with it. */
export function RecordScreen() {
  const { resource: name, id } = recordRoute.useParams();
  const { deleted = false } = recordRoute.useSearch();
  const resource = useOwnResource(name);
  return (
    <QueryState query={resource} lines={8}>
      {(found) => {
        if (found === null) return <UnusableResource name={name} />;
        if (deleted) return <LazyPart key={id} part={deletedRecord} props={{ definition: found.definition, id }} lines={8} />;
        return <PresentRecord resource={found} id={id} />;
      }}
    </QueryState>
  );
}

function PresentRecord({ resource, id }: { readonly resource: OwnResource; readonly id: string }) {
  const { name, softDelete } = resource.definition;
  const record = useQuery(recordQuery(name, id));
  const isUnknown = hasCode(record.error, 'RECORD_UNKNOWN');
  return (
    <>
      <QueryState query={record} lines={8}>
        {(row) => <StoredRecord key={id} resource={resource} row={row} />}
      </QueryState>
      {hasCode(record.error, 'ACCESS_DENIED') && record.data === undefined && (
        <RefusedRecord resource={name} id={id} error={record.error} />
      )}
      {isUnknown && softDelete === true && (
        <TextLink to="/data/$resource/$id" params={{ resource: name, id }} search={{ deleted: true }}>
          {texts.deletedRecord.find}
        </TextLink>
      )}
    </>
  );
}

/** The actions that the caller may perform on a record that they may not read, and the way back to the list. */
function RefusedRecord({ resource, id, error }: { readonly resource: string; readonly id: string; readonly error: unknown }) {
  const shown = error instanceof RequestError ? error.problem.detail : undefined;
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(resource, id));
  return (
    <Stack mt="md" align="flex-start">
      <OwnPermissions resource={resource} id={id} permissions={permissions} shown={shown} />
      <TextLink to="/data/$resource" params={{ resource }}>
        {texts.record.back(resource)}
      </TextLink>
    </Stack>
  );
}

function StoredRecord({ resource, row }: { readonly resource: OwnResource; readonly row: Row }) {
  const { definition } = resource;
  const { mayRead } = useAuditRights();
  const { role } = useCaller();
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(definition.name, row.id));
  const queryClient = useQueryClient();
  return (
    <Page
      title={labelOf(row, labelField(definition))}
      description={sentence`${definition.name} · ${row.id}`}
      actions={
        <>
          {mayRead && (
            <TextLink to="/decisions" search={{ recordId: row.id, range: 'all' }} size="sm">
              {texts.record.decisions}
            </TextLink>
          )}
          {role === 'admin' && (
            <TextLink to="/access" search={{ tab: 'whoCan', resource: definition.name, action: 'read', id: row.id }} size="sm">
              {texts.record.whoCan}
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
      <div className={classes['columns']}>
        <div>
          {/* The name of a user is also shown elsewhere. */}
          <StoredRecordForm definition={definition} row={row} reload={() => queryClient.invalidateQueries({ queryKey: ['users'] })} />
        </div>
        <Stack>
          <FieldTable fields={serviceFields(definition)} row={row} />
          <OwnPermissions resource={definition.name} id={row.id} permissions={permissions} />
        </Stack>
      </div>
    </Page>
  );
}

/** Returns the fields that a change cannot set. */
function serviceFields({ fields }: Definition): Definition['fields'] {
  return fields.filter(({ readOnly, immutable, writeOnly }) => (readOnly || immutable) && !writeOnly);
}
