import { NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client } from '../../../api/client.ts';
import { ConfirmModal } from '../../../components/ConfirmModal.tsx';
import { FieldInput } from '../../../components/record-form/FieldInput.tsx';
import { emptyValue, type FormValue, parseFormValue } from '../../../components/record-form/form-values.ts';
import { dataTexts } from '../../../texts/data.ts';
import { commonFields } from './bulk-change.ts';
import { type BulkDialogProps, WillRefuse } from './WillRefuse.tsx';

const texts = dataTexts.bulk;

/** Gives one field of several records the same value. It names the records that the caller may not change before anything is sent. */
export function ChangeFieldDialog({ resource, rows, perform, onClose }: BulkDialogProps) {
  const fields = commonFields(resource.definition.fields);
  const [name, setName] = useState('');
  const [value, setValue] = useState<FormValue>(null);
  const field = fields.find((each) => each.name === name);
  const parsed = field && parseFormValue(field, value);
  const mistake = parsed !== undefined && 'mistake' in parsed ? parsed.mistake : undefined;
  const given = parsed !== undefined && 'value' in parsed ? parsed.value : undefined;
  const isComplete = given !== undefined && (given !== null || field?.required === false);
  const choose = (next: string): void => {
    setName(next);
    const chosen = fields.find((each) => each.name === next);
    setValue(chosen === undefined ? null : emptyValue(chosen));
  };
  return (
    <ConfirmModal
      isOpen
      isWide
      isDangerous={false}
      isComplete={isComplete}
      title={texts.changeTitle(rows.length)}
      action={texts.apply}
      perform={() => perform({ action: 'update', values: { [name]: given } })}
      onClose={onClose}
    >
      <NativeSelect
        label={texts.field}
        data={[{ value: '', label: texts.noField }, ...fields.map((each) => ({ value: each.name, label: each.name }))]}
        value={name}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {field && <FieldInput key={name} field={field} value={value} mistake={mistake} isNew={false} disabled={false} onChange={setValue} />}
      {given === null && field?.required === false && <Text size="sm">{texts.empty}</Text>}
      <Denied resource={resource} rows={rows} />
    </ConfirmModal>
  );
}

/** The records that no rule lets the caller change, with any value. */
function Denied({ resource, rows }: Pick<BulkDialogProps, 'resource' | 'rows'>) {
  const ids = rows.map(({ id }) => id);
  const { name } = resource.definition;
  const { data: permissions = [] } = useQuery({
    queryKey: ['records', name, 'permissions', 'update', ids],
    queryFn: async ({ signal }) =>
      (await bodyOf(client.POST('/auth/me/permissions', { body: { resource: name, ids, actions: ['update'] }, signal }))).data,
  });
  const refused = permissions.flatMap(({ id, effect, reason }) => {
    const row = rows.find((each) => each.id === id);
    return row === undefined || effect !== 'deny' ? [] : [{ row, problem: { title: reason, code: 'ACCESS_DENIED' } }];
  });
  return <WillRefuse resource={resource} action="update" refused={refused} />;
}
