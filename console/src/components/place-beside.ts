/** The sides of an element, in pixels from the left and the top of the window. */
interface Sides {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Pixels between an element and the surface beside it, and between that surface and the edge of the window. */
const GAP = 4;
const EDGE = 8;

/** Maximum width of a surface, in pixels. */
const WIDE = 320;

/**
 * Returns the style of a surface that is shown beside an element: below it, or above it where there is more room; with the same right edge, or
 * with the same left edge where it would leave the window. It needs no size of the surface, which is known only after it is shown.
 */
export function placeBeside(element: Sides, window: { readonly width: number; readonly height: number }): Readonly<Record<string, string>> {
  const below = window.height - element.bottom;
  const isBelow = below >= element.top || below >= window.height / 3;
  const room = (isBelow ? below : element.top) - GAP - EDGE;
  const isRightAligned = element.right >= WIDE || element.right > window.width - element.left;
  return {
    top: isBelow ? `${element.bottom + GAP}px` : 'auto',
    bottom: isBelow ? 'auto' : `${window.height - element.top + GAP}px`,
    left: isRightAligned ? 'auto' : `${Math.max(EDGE, element.left)}px`,
    right: isRightAligned ? `${Math.max(EDGE, window.width - element.right)}px` : 'auto',
    maxHeight: `${room}px`,
  };
}
