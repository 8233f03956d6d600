import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type Definition, ownPermissionsQuery } from '../../api/own-resources.ts';
import type { Row } from '../../api/records.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { ConflictFormProps } from './ConflictForm.tsx';
import { toFormValues } from './form-values.ts';
import { keptValuesAlert } from './NewRecordForm.tsx';
import { RecordForm } from './RecordForm.tsx';
import { useKeptValues } from './useKeptValues.ts';
import { isNewer, useRecordEditor } from './useRecordEditor.ts';
import { useSaving } from './useSaving.ts';

const conflictForm = createPart<ConflictFormProps>(async () => (await import('./ConflictForm.tsx')).ConflictForm);

/** Properties of the form of a stored record. */
interface StoredRecordFormProps {
  readonly definition: Definition;
  readonly row: Row;
  /** Loads what is shown of the record again. */
  reload(): Promise<unknown>;
}

/** The fields of a stored record that the caller may change, and the merge with a change that was stored meanwhile. */
export function StoredRecordForm({ definition, row, reload }: StoredRecordFormProps) {
  const { data: permissions = [] } = useQuery(ownPermissionsQuery(definition.name, row.id));
  const denied = permissions.find(({ action, effect }) => action === 'update' && effect === 'deny');
  const editor = useRecordEditor(definition, row);
  const keeper = useKeptValues(definition.name, editor);
  const saving = useSaving({ resource: definition.name, editor, keeper, reload });
  const { kept, decide } = keeper;
  const restore = (): void => {
    if (kept === undefined) return;
    if (kept.version === row.version) {
      editor.change(kept.values);
      decide();
    } else {
      const theirs = toFormValues(editor.fields, row);
      saving.compare({ base: { ...theirs, ...kept.before }, mine: { ...theirs, ...kept.values }, stored: row, isOfKept: true });
    }
  };
  if (saving.conflict !== undefined) {
    return <LazyPart part={conflictForm} props={{ fields: editor.fields, conflict: saving.conflict, saving }} lines={6} />;
  }
  return (
    <>
      {kept && <LazyPart part={keptValuesAlert} props={{ isPartial: kept.isPartial, onRestore: restore, onDiscard: decide }} lines={2} />}
      {isNewer(row, editor.base) && (
        <Alert color="yellow" mb="md">
          {texts.conflict.newer}
        </Alert>
      )}
      <RecordForm editor={editor} keeper={keeper} submit={texts.record.save} refusal={denied?.reason} save={saving.save} />
    </>
  );
}
