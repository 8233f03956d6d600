/** The rows of a virtual table that are rendered while it scrolls fast. */
import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual';

/** Rows before and after those in view that are rendered, so that a slow scroll shows no gap. */
export const OVERSCAN = 12;

/**
 * Creates a function that returns the indexes of the rows to render. A scroll that leaves no row in view, as with the scroll bar, renders only
 * the rows in view: those around them would be gone in the next frame.
 */
export function createRangeExtractor(): (range: Range) => number[] {
  let last: Range | undefined;
  return (range) => {
    const isJump = last !== undefined && (range.startIndex > last.endIndex || range.endIndex < last.startIndex);
    last = range;
    return defaultRangeExtractor(isJump ? { ...range, overscan: 0 } : range);
  };
}

/** Assigns keys to rendered rows. */
export interface RowKeys {
  /** Returns the keys of the rows with these indexes, in ascending order. */
  assign(indexes: readonly number[]): readonly number[];
}

/**
 * Creates the keys of rows. A row keeps its key while it is rendered. If no row stays, the new rows take the keys of the old ones in order, so
 * that their elements are used again: to change a text takes a fraction of the time of a new element, most of which is its style.
 */
export function createRowKeys(): RowKeys {
  let keys: ReadonlyMap<number, number> = new Map();
  let next = 0;
  return {
    assign(indexes) {
      const isJump = !indexes.some((index) => keys.has(index));
      const free = isJump ? [...keys.values()] : [];
      keys = new Map(indexes.map((index, position) => [index, keys.get(index) ?? free[position] ?? next++]));
      return [...keys.values()];
    },
  };
}

/** Rows between two frames of a scroll from which on none of them can be read. A wheel passes fewer. */
const FAST = 60;

/** The position of a scroll. */
interface ScrollPlace {
  /** The index of the first row in view. */
  readonly first: number;
  readonly isScrolling: boolean;
}

/**
 * Creates a function that returns true while a scroll is too fast to read a row, as with the scroll bar. A single jump, such as to the end, is not: its
 * rows are shown at once.
 */
export function createSkimDetector(): (place: ScrollPlace) => boolean {
  let last: number | undefined;
  let jumps = 0;
  return ({ first, isScrolling }) => {
    if (!isScrolling) jumps = 0;
    else if (last !== undefined && first !== last) jumps = Math.abs(first - last) < FAST ? 0 : jumps + 1;
    last = first;
    return jumps > 1;
  };
}
