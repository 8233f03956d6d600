import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Definition, ownPermissionsQuery } from '../../api/own-resources.ts';
import { hasCode } from '../../api/problem.ts';
import { loadRecord, type Row, sendRecordRequest } from '../../api/records.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { notifySuccess } from '../notifySuccess.ts';
import { Conflict, type ConflictState } from './Conflict.tsx';
import { RecordForm } from './RecordForm.tsx';

/** Properties of the form of a stored record. */
interface StoredRecordFormProps {
  readonly definition: Definition;
  readonly row: Row;
  /** Loads what is shown of the record again. */
  reload(): Promise<unknown>;
}

/** The fields of a stored record that the caller may change, and the comparison with a change that was stored meanwhile. */
export function StoredRecordForm({ definition, row, reload }: StoredRecordFormProps) {
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(definition.name, row.id));
  const denied = permissions.find(({ action, effect }) => action === 'update' && effect === 'deny');
  const { save, conflict } = useSaving(definition.name, row, reload);
  return (
    <>
      {conflict && <Conflict definition={definition} conflict={conflict} />}
      <RecordForm definition={definition} row={row} submit={texts.record.save} refusal={denied?.reason} save={save} />
    </>
  );
}

/** Saves a record with its version. If it was changed meanwhile, loads the stored values for a comparison. */
function useSaving(resource: string, row: Row, reload: () => Promise<unknown>) {
  const queryClient = useQueryClient();
  const [conflict, setConflict] = useState<ConflictState>();
  const path = `${encodeURIComponent(resource)}/${encodeURIComponent(row.id)}`;
  const loadAgain = async (): Promise<void> => {
    await Promise.all([queryClient.invalidateQueries({ queryKey: ['records', resource] }), reload()]);
  };
  const write = async (body: Readonly<Record<string, unknown>>, version: number | undefined): Promise<void> => {
    await sendRecordRequest(path, { method: 'PUT', body, version });
    notifySuccess(texts.record.saved);
    setConflict(undefined);
    await loadAgain();
  };
  const save = async (body: Readonly<Record<string, unknown>>): Promise<boolean> => {
    try {
      await write(body, row.version);
      return true;
    } catch (error) {
      if (!hasCode(error, 'RECORD_VERSION')) throw error;
      const stored = await loadRecord(resource, row.id);
      setConflict({ mine: body, stored, keepMine: () => write(body, stored.version), takeTheirs: loadAgain });
      return false;
    }
  };
  return { save, conflict };
}
