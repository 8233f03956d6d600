import { type RefObject, useEffect, useRef } from 'react';

/** Closes an open surface when the page scrolls, because the surface would stay where it is. Its own scrolling does not close it. */
export function useClosingScroll(surface: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  const present = useRef(close);
  present.current = close;
  useEffect(() => {
    if (!isOpen) return;
    const scroll = ({ target }: Event): void => {
      if (target !== surface.current) present.current();
    };
    addEventListener('scroll', scroll, { capture: true, passive: true });
    return () => removeEventListener('scroll', scroll, { capture: true });
  }, [surface, isOpen]);
}
