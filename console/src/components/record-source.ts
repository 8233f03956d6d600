/** The records that a picker offers. */
import type { QueryClient } from '@tanstack/react-query';
import { hasCode } from '../api/problem.ts';
import { ownCatalogueQuery } from '../api/queries.ts';
import { loadRecord, loadRecords } from '../api/records.ts';
import type { PickerItem, PickerSource } from './picker-source.ts';
import { labelField, labelOf, type ResourceDescription } from './record-labels.ts';

/** Returns the records of a resource that the caller may list. Their labels are the field that names them. */
export function recordSource(resource: ResourceDescription, queryClient: QueryClient): PickerSource {
  const field = labelField(resource);
  const list = async (where: Readonly<Record<string, unknown>> | undefined, signal: AbortSignal): Promise<readonly PickerItem[]> => {
    if ((await loadEffect(queryClient, resource.name, 'list')) === 'deny') return [];
    const { data } = await ifAllowed(loadRecords(resource.name, { limit: 20, ...(where && { where }) }, signal), { data: [], count: 0 });
    return data.map((row) => ({ value: row.id, label: labelOf(row, field) }));
  };
  return {
    key: ['records', resource.name, 'picker'],
    search: (text, signal) => list(text === '' || field === undefined ? undefined : { [field]: { icontains: text } }, signal),
    async find(id, signal) {
      // A list leaves out a record that may not be read. A read would be denied, and the audit log would record a denial that no user caused.
      if ((await loadEffect(queryClient, resource.name, 'read')) !== 'allow') return (await list({ id }, signal))[0];
      const row = await ifAllowed(loadRecord(resource.name, id, signal), undefined);
      return row && { value: row.id, label: labelOf(row, field) };
    },
  };
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
