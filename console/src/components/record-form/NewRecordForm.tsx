import type { ReactNode } from 'react';
import type { Definition } from '../../api/own-resources.ts';
import { isLost, RequestError } from '../../api/problem.ts';
import { dataTexts } from '../../texts/data.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { KeptValuesAlertProps } from './KeptValuesAlert.tsx';
import { RecordForm } from './RecordForm.tsx';
import { useKeptValues } from './useKeptValues.ts';
import { useRecordEditor } from './useRecordEditor.ts';

/** Loaded when there are values to offer, as for stored records. */
export const keptValuesAlert = createPart<KeptValuesAlertProps>(async () => (await import('./KeptValuesAlert.tsx')).KeptValuesAlert);

/** Properties of the form of a new record. */
interface NewRecordFormProps {
  readonly definition: Definition;
  readonly submit: string;
  create(values: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Link to the records, for a creation whose answer was lost. Absent in a dialog over their list. */
  readonly records?: ReactNode;
  /** Leaves the form without a change. */
  onCancel(): void;
}

/** The fields of a new record. */
export function NewRecordForm({ definition, submit, create, records, onCancel }: NewRecordFormProps) {
  const editor = useRecordEditor(definition, undefined);
  const keeper = useKeptValues(definition.name, editor);
  const { kept, decide } = keeper;
  const restore = (): void => {
    editor.change(kept?.values ?? {});
    decide();
  };
  const save = async (values: Readonly<Record<string, unknown>>): Promise<boolean> => {
    await create(values).catch((error: unknown) => {
      throw isLost(error) ? new RequestError({ ...error.problem, detail: dataTexts.record.lost }) : error;
    });
    return true;
  };
  return (
    <>
      {kept && <LazyPart part={keptValuesAlert} props={{ isPartial: kept.isPartial, onRestore: restore, onDiscard: decide }} lines={2} />}
      <RecordForm editor={editor} keeper={keeper} submit={submit} save={save} records={records} onCancel={onCancel} />
    </>
  );
}
