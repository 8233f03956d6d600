import { type RefObject, useEffect, useRef } from 'react';
import { placeOf, type Selection } from './selection.ts';

/**
 * Keeps the focus in a list when its selection ends and the buttons above the list disappear with the focus in them: moves it to the row of the
 * first item that was selected, or to the row in its place. Returns the reference of the element around the list.
 */
export function useListFocus<Item extends { readonly id: string }>(
  selected: Selection<Item>,
  items: readonly Item[],
): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const place = useRef<number | undefined>(undefined);
  const isEmpty = selected.size === 0;
  // A deleted item is no longer in the list, and its place stays.
  if (!isEmpty) place.current = placeOf(selected, items) ?? place.current;
  useEffect(() => {
    const { current: element } = list;
    if (!isEmpty || place.current === undefined || element === null) return;
    const rows = element.querySelectorAll<HTMLElement>('[data-row]');
    const target = rows[Math.min(place.current, rows.length - 1)] ?? element.querySelector<HTMLElement>('button, a[href]') ?? element;
    place.current = undefined;
    if (document.activeElement === document.body) target.focus();
  }, [isEmpty]);
  return list;
}
