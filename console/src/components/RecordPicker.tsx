import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { hasCode } from '../api/problem.ts';
import { ownCatalogueQuery } from '../api/queries.ts';
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
  const queryClient = useQueryClient();
  const list = async (where: Readonly<Record<string, unknown>> | undefined, signal: AbortSignal): Promise<readonly PickerItem[]> => {
    if ((await loadEffect(queryClient, resource.name, 'list')) === 'deny') return [];
    const { data } = await ifAllowed(loadRecords(resource.name, { limit: 20, ...(where && { where }) }, signal), { data: [], count: 0 });
    return data.map((row) => ({ value: row.id, label: labelOf(row, field) }));
  };
  const search = (text: string, signal: AbortSignal): Promise<readonly PickerItem[]> =>
    list(text === '' || field === undefined ? undefined : { [field]: { icontains: text } }, signal);
  const find = async (id: string, signal: AbortSignal): Promise<PickerItem | undefined> => {
    // A list leaves out a record that may not be read. A read would be denied, and the audit log would record a denial that no user caused.
    if ((await loadEffect(queryClient, resource.name, 'read')) !== 'allow') return (await list({ id }, signal))[0];
    const row = await ifAllowed(loadRecord(resource.name, id, signal), undefined);
    return row && { value: row.id, label: labelOf(row, field) };
  };
  return <AsyncPicker {...props} searchKey={['records', resource.name, 'picker']} search={search} find={find} />;
}

/** Loads the effect of the policies on an action of the caller: `deny` if the caller may not use the resource. */
async function loadEffect(queryClient: QueryClient, resource: string, action: 'list' | 'read'): Promise<'allow' | 'conditional' | 'deny'> {
  const { resources } = await queryClient.ensureQueryData(ownCatalogueQuery);
  const own = resources.find(({ definition }) => definition.name === resource);
  return own?.permissions.find((permission) => permission.action === action)?.effect ?? 'deny';
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
