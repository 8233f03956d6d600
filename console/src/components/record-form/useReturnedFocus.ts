import { useEffect, useLayoutEffect, useRef } from 'react';

/** Returns the focus to the field that had it when the fields of a form were disabled, because a browser takes it from them. */
export function useReturnedFocus(isDisabled: boolean): void {
  const focused = useRef<Element>(null);
  useLayoutEffect(() => {
    if (isDisabled) focused.current = document.activeElement;
  }, [isDisabled]);
  useEffect(() => {
    if (isDisabled || document.activeElement !== document.body) return;
    if (focused.current instanceof HTMLElement) focused.current.focus({ preventScroll: true });
  }, [isDisabled]);
}
