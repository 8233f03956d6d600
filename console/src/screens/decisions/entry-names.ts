import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolateNames, sentence } from '../../texts/sentence.ts';
import type { EntryFilter } from './filters.ts';
import { type Entry, type EntryNames, type EntryPage, NO_NAMES } from './queries.ts';

/** Names that were loaded so far. */
export interface KnownNames {
  /** Adds the names of loaded pages. Returns all names: the same object, unless a name is new. */
  add(pages: readonly EntryPage[]): EntryNames;
}

/** Creates a collection of names. Those of earlier filters stay: the pages without a user do not have the name of that user. */
export function createKnownNames(): KnownNames {
  const added = new WeakSet<EntryPage>();
  let known = NO_NAMES;
  return {
    add(pages) {
      for (const page of pages) {
        if (added.has(page)) continue;
        added.add(page);
        known = mergeNames(known, page.names ?? NO_NAMES);
      }
      return known;
    },
  };
}

/** Returns the names of both: the first object, unless the second has another name. */
export function mergeNames(known: EntryNames, more: EntryNames): EntryNames {
  const isNew = (group: keyof EntryNames): boolean => Object.entries(more[group]).some(([id, name]) => known[group][id] !== name);
  if (!(['users', 'policies', 'rules'] as const).some(isNew)) return known;
  return {
    users: { ...known.users, ...more.users },
    policies: { ...known.policies, ...more.policies },
    rules: { ...known.rules, ...more.rules },
  };
}

/** Returns the value of a filter as a reader knows it: the name of a user, policy or rule instead of its id, if it is known. */
export function filterValueLabel({ name, value }: Pick<EntryFilter, 'name' | 'value'>, { users, policies, rules }: EntryNames): string {
  if (name === 'allowed') return commonTexts[value === 'true' ? 'allowed' : 'denied'];
  const names = { userId: users, policyId: policies, ruleId: rules }[name as 'userId' | 'policyId' | 'ruleId'];
  return names?.[value] ?? value;
}

/** Returns the words of a filter: `Show only Resource Article`, `Exclude Role editor`. */
export function describeFilter(filter: EntryFilter, names: EntryNames): string {
  const [name, value] = [decisionsTexts.filters[filter.name], filterValueLabel(filter, names)];
  return filter.isExcluded ? decisionsTexts.exclude(name, value) : decisionsTexts.filterBy(name, value);
}

/** Returns the name of the caller of an entry; the id if the name is not known, and the role of a caller without a token. */
export function callerOf({ userId, role }: Pick<Entry, 'userId' | 'role'>, { users }: EntryNames): string {
  return userId === undefined ? role : (users[userId] ?? userId);
}

/** Returns the whole text of a cell in the table of entries; undefined for a column whose texts are short. */
export function describeCell(entry: Entry, column: string, names: EntryNames): string | undefined {
  const { userId, role, action, resource, recordId, kind, reason } = entry;
  if (column === 'who') return userId === undefined ? role : sentence`${callerOf(entry, names)} ${role}`;
  if (column === 'what') return sentence`${action} ${resource} ${recordId ?? ''}`.trimEnd();
  if (column === 'reason') return kind === 'access' ? isolateNames(reason) : `${kind} · ${isolateNames(reason)}`;
  return undefined;
}
