import type { EntryNames } from './queries.ts';

/** Returns the names of all pages together. */
export function mergeNames(pages: readonly (EntryNames | undefined)[]): EntryNames {
  const merge = (group: keyof EntryNames): Readonly<Record<string, string>> =>
    Object.assign({}, ...pages.map((page) => page?.[group] ?? {}));
  return { users: merge('users'), policies: merge('policies'), rules: merge('rules') };
}
