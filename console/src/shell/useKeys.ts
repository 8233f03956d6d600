import { useWindowEvent } from '@mantine/hooks';
import { hasCharacterKeys } from './character-keys.ts';
import { type KeyAction, toKeyAction } from './key-actions.ts';

/** Actions of the frame. */
interface FrameActions {
  onPalette(): void;
  onHelp(): void;
}

/** Performs the actions of the keys that every screen understands. */
export function useKeys({ onPalette, onHelp }: FrameActions): void {
  const actions: Readonly<Record<KeyAction, () => void>> = {
    palette: onPalette,
    help: onHelp,
    search: () => focusSearch() || onPalette(),
    next: () => focusRow(1),
    previous: () => focusRow(-1),
    open: () => presentRow()?.querySelector<HTMLElement>('[data-open]')?.click(),
    select: () => presentRow()?.querySelector<HTMLElement>('[data-select]')?.click(),
  };
  useWindowEvent('keydown', (event) => {
    const action = toKeyAction(event, event.target as HTMLElement, hasCharacterKeys());
    if (action === undefined) return;
    // Enter has its own meaning in buttons and links.
    if (action !== 'open') event.preventDefault();
    actions[action]();
  });
}

/** Moves the focus to the search field of the screen. Returns false if it has none. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  field?.focus();
  return field !== null;
}

/** Moves the focus to the next or the previous row of the screen or of the dialog above it. A row has the attribute `data-row`. */
function focusRow(step: 1 | -1): void {
  const place = [...document.querySelectorAll<HTMLElement>('[role="dialog"]')].findLast((dialog) => dialog.checkVisibility()) ?? document;
  const rows = [...place.querySelectorAll<HTMLElement>('[data-row]')];
  const present = rows.indexOf(document.activeElement?.closest<HTMLElement>('[data-row]') as HTMLElement);
  rows[Math.min(rows.length - 1, Math.max(0, present + step))]?.focus();
}

/** Returns the row in focus. The focus can be in an element of a row that was used before. */
function presentRow(): HTMLElement | undefined {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement.matches('[data-row]') ? activeElement : undefined;
}
