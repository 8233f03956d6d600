import { Alert, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Definition } from '../../api/own-resources.ts';
import type { Row } from '../../api/records.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { FieldTable } from '../../components/record-form/FieldTable.tsx';
import { labelField, labelOf } from '../../components/record-labels.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { dataTexts } from '../../texts/data.ts';
import { sentence } from '../../texts/sentence.ts';
import { deletedRecordQuery } from './queries.ts';
import { RestoreButton } from './RestoreButton.tsx';

const texts = dataTexts.deletedRecord;

/** Properties of a deleted record. */
export interface DeletedRecordProps {
  readonly definition: Definition;
  readonly id: string;
}

/** A soft-deleted record: its values, and the way to restore it. */
export function DeletedRecord({ definition, id }: DeletedRecordProps) {
  const record = useQuery(deletedRecordQuery(definition.name, id));
  const params = { resource: definition.name, id };
  return (
    <QueryState query={record} lines={8}>
      {(row) =>
        row === null ? (
          <EmptyState
            {...texts.none}
            action={
              <TextLink to="/data/$resource/$id" params={params}>
                {texts.present}
              </TextLink>
            }
          />
        ) : (
          <Values definition={definition} row={row} />
        )
      }
    </QueryState>
  );
}

function Values({ definition, row }: Pick<DeletedRecordProps, 'definition'> & { readonly row: Row }) {
  const { name } = definition;
  // Those of the definition first.
  const fields = definition.fields.filter(({ writeOnly }) => !writeOnly).toSorted((a, b) => Number(a.readOnly) - Number(b.readOnly));
  const { mayRead } = useAuditRights();
  const navigate = useNavigate();
  return (
    <Page
      title={labelOf(row, labelField(definition))}
      description={sentence`${name} · ${row.id}`}
      actions={
        <RestoreButton
          resource={name}
          row={row}
          onRestored={() => void navigate({ to: '/data/$resource/$id', params: { resource: name, id: row.id }, replace: true })}
        />
      }
    >
      <Alert color="gray">{texts.detail}</Alert>
      <FieldTable fields={fields} row={row} />
      <Group gap="md">
        <TextLink to="/data/$resource" params={{ resource: name }} search={{ deleted: true }} size="sm">
          {texts.back}
        </TextLink>
        {mayRead && (
          <TextLink to="/decisions" search={{ recordId: row.id, range: 'all' }} size="sm">
            {dataTexts.record.decisions}
          </TextLink>
        )}
      </Group>
    </Page>
  );
}
