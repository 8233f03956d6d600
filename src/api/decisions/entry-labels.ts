/** Names of callers and records in audit entries, for people who read the log on a terminal. */
import type { AuditEntry } from '../../audit/index.ts';
import { labelFieldOf, ordinaryResources, type Resource } from '../../resources/index.ts';
import { loadAppliedDefinitions, loadPolicyNames, loadUndamagedRecords, type Transaction } from '../../storage/index.ts';

/** The names of the caller and the record of an entry. A name is undefined if there is none, or if the user or record was deleted. */
export interface EntryLabels {
  /** The email of the user. */
  readonly caller: string | undefined;
  readonly record: string | undefined;
}

/** The resources of entries about policies. Their `recordId` is the id of a policy. */
const POLICY_SUBJECTS: ReadonlySet<string> = new Set(['Policy', 'UserPolicy', 'RolePolicy']);

/** Loads the present names of the callers and records of entries, in the order of the entries. */
export async function loadEntryLabels(tx: Transaction, entries: readonly AuditEntry[]): Promise<readonly EntryLabels[]> {
  // The definitions of the project may have changed since the tables were migrated.
  const definitions = await loadAppliedDefinitions(tx);
  const user = definitions.get('User');
  const callers = await loadLabels(tx, user, { ids: entries.flatMap(({ userId }) => userId ?? []), field: 'email' });
  const records = new Map<string, ReadonlyMap<string, string>>();
  for (const [resource, about] of Map.groupBy(entries, (entry) => entry.resource)) {
    const ids = about.flatMap(({ recordId }) => recordId ?? []);
    records.set(resource, await loadNamesOf(tx, ordinaryResources(definitions), { resource, ids }));
  }
  return entries.map(({ userId = '', resource, recordId = '' }) => ({
    caller: callers.get(userId),
    record: records.get(resource)?.get(recordId),
  }));
}

interface NamedIds {
  readonly resource: string;
  readonly ids: readonly string[];
}

async function loadNamesOf(tx: Transaction, known: readonly Resource[], { resource, ids }: NamedIds): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  if (POLICY_SUBJECTS.has(resource)) return new Map(Object.entries(await loadPolicyNames(tx, [...new Set(ids)])));
  const definition = known.find(({ name }) => name === resource);
  return loadLabels(tx, definition, { ids, field: resource === 'User' ? 'email' : definition && labelFieldOf(definition) });
}

async function loadLabels(
  tx: Transaction,
  resource: Resource | undefined,
  { ids, field }: { readonly ids: readonly string[]; readonly field: string | undefined },
): Promise<ReadonlyMap<string, string>> {
  if (resource === undefined || field === undefined || ids.length === 0) return new Map();
  const records = await loadUndamagedRecords(tx, resource, [...new Set(ids)]);
  return new Map(
    [...records].flatMap(([id, { [field]: label }]) => (typeof label === 'string' && label !== '' ? [[id, label] as const] : [])),
  );
}
