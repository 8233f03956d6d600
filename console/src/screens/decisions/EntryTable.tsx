import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { EntryRow } from './EntryRow.tsx';
import classes from './EntryTable.module.css';
import type { EntryFilter } from './filters.ts';
import type { Entry, EntryNames } from './queries.ts';
import { createRangeExtractor, createRowKeys, createSkimDetector, OVERSCAN } from './rendered-rows.ts';
import { SkimmedRows } from './SkimmedRows.tsx';

/** Properties of the table of entries. */
interface EntryTableProps {
  readonly entries: readonly Entry[];
  readonly names: EntryNames;
  /** True if new entries come before the others. A row then moves with its entry. */
  readonly growsAtStart?: boolean;
  onOpen(id: string): void;
  onFilter(filter: EntryFilter): void;
  /** Loads further entries; undefined if there are none, or if they are being loaded. */
  onEnd?: (() => void) | undefined;
}

/** Height of a row in pixels, as in the style sheet. In a narrow window, rows are higher, and are measured. */
const ROW = 40;

/** Rows before the end at which further entries are loaded. */
const NEAR_END = 100;

/**
 * Entries in a table that renders only the rows in view, and none while the scroll bar moves too fast to read them. Near its end, it loads further
 * entries.
 */
export function EntryTable({ entries, names, growsAtStart = false, onOpen, onFilter, onEnd }: EntryTableProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const isNarrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const [rangeExtractor] = useState(createRangeExtractor);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
    rangeExtractor,
  });
  const items = virtual.getVirtualItems();
  const first = virtual.range?.startIndex ?? 0;
  const [detectSkim] = useState(createSkimDetector);
  const isSkimming = detectSkim({ first, isScrolling: virtual.isScrolling });
  const rows = isSkimming ? [] : items;
  const [rowKeys] = useState(createRowKeys);
  // Elements whose height is measured belong to one entry.
  const keys = growsAtStart || isNarrow ? [] : rowKeys.assign(rows.map(({ index }) => index));
  const last = items.at(-1)?.index ?? -1;
  const isNearEnd = last >= entries.length - NEAR_END;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  return (
    <div ref={scroll} className={classes['scroll']}>
      {isSkimming && <SkimmedRows at={entries[first]?.at} index={first} count={entries.length} />}
      <table className={classes['table']} aria-label={texts.title} aria-rowcount={entries.length}>
        <thead>
          <tr>
            {Object.entries(texts.columns).map(([key, title]) => (
              <th key={key} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody style={{ height: virtual.getTotalSize() }}>
          {rows.map(({ index, start }, position) => {
            const entry = entries[index];
            return (
              entry && (
                <EntryRow
                  key={keys[position] ?? entry.id}
                  entry={entry}
                  index={index}
                  top={start}
                  names={names}
                  measure={isNarrow ? virtual.measureElement : undefined}
                  onOpen={onOpen}
                  onFilter={onFilter}
                />
              )
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
