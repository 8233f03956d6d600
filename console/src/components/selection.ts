/** The items that are selected in a list. */

/** The selected items by id, in the order in which they were selected. */
export type Selection<Item> = ReadonlyMap<string, Item>;

interface Identified {
  readonly id: string;
}

/** Returns the items from the last selected one to this one, for a click with Shift. */
export function rangeTo<Item extends Identified>(item: Item, items: readonly Item[], selected: Selection<Item>): readonly Item[] {
  const last = [...selected.keys()].at(-1);
  const [start, end] = [items.findIndex(({ id }) => id === last), items.indexOf(item)];
  return start < 0 ? [item] : items.slice(Math.min(start, end), Math.max(start, end) + 1);
}

/** Returns the place in the list of the first item that is selected; undefined if the list has none of them. */
export function placeOf<Item extends Identified>(selected: Selection<Item>, items: readonly Item[]): number | undefined {
  const place = items.findIndex(({ id }) => selected.has(id));
  return place < 0 ? undefined : place;
}

/** Returns the selected items as the list has them at present, so that a change that was refused can be tried again. */
export function presentItems<Item extends Identified>(selected: Selection<Item>, items: readonly Item[]): readonly Item[] {
  const listed = new Map(items.map((item) => [item.id, item]));
  return [...selected].map(([id, item]) => listed.get(id) ?? item);
}
