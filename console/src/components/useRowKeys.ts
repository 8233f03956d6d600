import { useHotkeys } from '@mantine/hooks';
import type { RefObject } from 'react';

/** Moves the focus between the rows of a list with `j` and `k`, and selects the row in focus with `x`. Rows have the attribute `data-row`. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useHotkeys([
    ['j', () => focusRow(list.current, 1)],
    ['k', () => focusRow(list.current, -1)],
    ['x', () => list.current?.querySelector<HTMLElement>('[data-row]:focus [data-select]')?.click()],
  ]);
}

function focusRow(list: HTMLElement | null, step: 1 | -1): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const present = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.min(rows.length - 1, Math.max(0, present + step))]?.focus();
}
