import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import type { EntryFilter } from './filters.ts';
import { ENTRIES, type EntryNames, type EntryPage } from './queries.ts';

/** Returns the names of all loaded pages, also of those with other filters: the entries of an excluded user are on no page of the present one. */
export function knownNames(queryClient: QueryClient): EntryNames {
  const loaded = queryClient.getQueriesData<InfiniteData<EntryPage>>({ queryKey: ENTRIES });
  return mergeNames(loaded.flatMap(([, data]) => data?.pages.map(({ names }) => names) ?? []));
}

function mergeNames(pages: readonly (EntryNames | undefined)[]): EntryNames {
  const merge = (group: keyof EntryNames): Readonly<Record<string, string>> =>
    Object.assign({}, ...pages.map((page) => page?.[group] ?? {}));
  return { users: merge('users'), policies: merge('policies'), rules: merge('rules') };
}

/** Returns the value of a filter as a reader knows it: the name of a user, policy or rule instead of its id, if it is known. */
export function labelOf({ name, value }: Pick<EntryFilter, 'name' | 'value'>, { users, policies, rules }: EntryNames): string {
  if (name === 'allowed') return commonTexts[value === 'true' ? 'allowed' : 'denied'];
  const names = { userId: users, policyId: policies, ruleId: rules }[name as 'userId' | 'policyId' | 'ruleId'];
  return names?.[value] ?? value;
}

/** Returns the words of a filter: `Show only Resource Article`, `Exclude Role editor`. */
export function describeFilter(filter: EntryFilter, names: EntryNames): string {
  const [name, value] = [decisionsTexts.filters[filter.name], labelOf(filter, names)];
  return filter.isExcluded ? decisionsTexts.exclude(name, value) : decisionsTexts.filterBy(name, value);
}
