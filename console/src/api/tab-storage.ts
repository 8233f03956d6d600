/** Items in the session storage of the tab. Signing out removes all of them. */

/** The part of the session storage that items use. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Returns the JSON of an item; undefined if there is none, or none that can be read. */
export function readItem(item: string, storage: TabStorage): unknown {
  try {
    return JSON.parse(storage.getItem(item) ?? 'null') ?? undefined;
  } catch {
    // Another version of the console may have written the item.
    return undefined;
  }
}

/** Items of unsaved changes, each a list of JSON objects with a `userId`: those of policies, and those of records. */
export const KEPT_ITEMS = { policies: 'bailiwick-kept-drafts', records: 'bailiwick-kept-records' } as const;

/** Returns true if the tab keeps unsaved changes of a user. */
export function hasKeptChanges(userId: string, storage: TabStorage = sessionStorage): boolean {
  return Object.values(KEPT_ITEMS).some((item) => {
    const kept = readItem(item, storage);
    return Array.isArray(kept) && kept.some((each) => Object(each).userId === userId);
  });
}
