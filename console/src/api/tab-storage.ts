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
