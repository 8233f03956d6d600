/** The values that differ between the two decisions of an update: on the stored record, and on the record as the update would store it. */
import { type Path, type RelatedLookup, relatedPaths, UNRESOLVED } from '../conditions/index.ts';
import { type Definitions, fieldAt, type Resource } from '../resources/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** The changes of the update of an entry; an entry of another action has none. */
export interface UpdateChanges {
  /** Returns true if the update may change the value of a path: the path reads a given field of the record, directly or where it may lead back to it. */
  isChanged(path: Path): boolean;
  /** Returns related records and ancestors without those that may differ, which are UNRESOLVED. */
  withoutChanged(related: RelatedLookup): RelatedLookup;
}

/** Fields that the service changes with every update. */
const CHANGED_ALWAYS: readonly string[] = ['version', 'updatedAt'];

const NO_CHANGES: UpdateChanges = { isChanged: () => false, withoutChanged: (related) => related };

/** The definitions, and the resource of the entry. */
interface EntryFrame {
  readonly definitions: Definitions;
  readonly resource: Resource;
}

/** Returns the changes of the update of an entry. */
export function changesOf({ action, recordId, facts }: AuditEntry, { definitions, resource }: EntryFrame): UpdateChanges {
  if (action !== 'update') return NO_CHANGES;
  const given = facts?.['fields'];
  const changed = new Set([...CHANGED_ALWAYS, ...(Array.isArray(given) ? given.map(String) : [])]);
  const mayLeadBack = (name: string, keys: readonly string[]): boolean => {
    const from = definitions.get(name);
    const via = (from && fieldAt(definitions, from, keys)?.via) ?? [];
    return via.some(({ target }, index) => target.name === resource.name && changed.has(keys[index + 1] ?? ''));
  };
  return {
    isChanged({ group, keys }) {
      if (group === 'resource') return changed.has(keys[0] ?? '') || mayLeadBack(resource.name, keys);
      return group === 'user' && mayLeadBack('User', keys);
    },
    withoutChanged: (related) => ({
      ...related,
      find: (each, values) =>
        relatedPaths(each).some((keys) => mayLeadBack(each.resource, keys)) ? UNRESOLVED : related.find(each, values),
      item(some, id) {
        const isOwn = some.resource === resource.name && id === recordId;
        const differs = (keys: readonly string[]): boolean => (isOwn && changed.has(keys[0] ?? '')) || mayLeadBack(some.resource, keys);
        return relatedPaths(some).some(differs) ? UNRESOLVED : related.item(some, id);
      },
      ancestors(name, id) {
        const found = related.ancestors(name, id);
        if (name !== resource.name || typeof found !== 'object' || recordId === undefined) return found;
        return changed.has(resource.hierarchy ?? '') && found.ids.includes(recordId) ? UNRESOLVED : found;
      },
    }),
  };
}
