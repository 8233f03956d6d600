import { hasCode } from '../api/problem.ts';
import { loadRecord, loadRecords } from '../api/records.ts';
import { AsyncPicker, type PickerItem } from './AsyncPicker.tsx';
import { labelField, labelOf, type ResourceDescription } from './record-labels.ts';

/** Properties of a picker of records. */
export interface RecordPickerProps {
  readonly resource: ResourceDescription;
  readonly label: string;
  readonly description?: string;
  readonly value: string | undefined;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly error?: string;
  onChange(id: string | undefined): void;
}

/** Picks a record that the caller may list, by the field that names it. */
export function RecordPicker({ resource, ...props }: RecordPickerProps) {
  const field = labelField(resource);
  const search = async (text: string, signal: AbortSignal): Promise<readonly PickerItem[]> => {
    const where = text === '' || field === undefined ? undefined : { [field]: { icontains: text } };
    const { data } = await ifAllowed(loadRecords(resource.name, { limit: 20, ...(where && { where }) }, signal), { data: [], count: 0 });
    return data.map((row) => ({ value: row.id, label: labelOf(row, field) }));
  };
  const find = async (id: string, signal: AbortSignal): Promise<PickerItem | undefined> => {
    const row = await ifAllowed(loadRecord(resource.name, id, signal), undefined);
    return row && { value: row.id, label: labelOf(row, field) };
  };
  return <AsyncPicker {...props} searchKey={['records', resource.name, 'picker']} search={search} find={find} />;
}

/** A caller who may not see the records can still give an id. */
async function ifAllowed<Result, Otherwise>(request: Promise<Result>, otherwise: Otherwise): Promise<Result | Otherwise> {
  try {
    return await request;
  } catch (error) {
    if (hasCode(error, 'ACCESS_DENIED') || hasCode(error, 'RECORD_UNKNOWN')) return otherwise;
    throw error;
  }
}
