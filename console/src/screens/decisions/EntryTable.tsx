import { Button, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Time } from '../../components/Time.tsx';
import { useRowKeys } from '../../components/useRowKeys.ts';
import { Verdict } from '../../components/Verdict.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import classes from './EntryTable.module.css';
import { mergeNames } from './entry-names.ts';
import type { Entry, EntryNames } from './queries.ts';

/** Properties of the table of entries. */
interface EntryTableProps {
  readonly entries: readonly Entry[];
  /** The names of each loaded page. */
  readonly names: readonly (EntryNames | undefined)[];
  onOpen(id: string): void;
  /** Loads further entries; undefined if there are none, or if they are being loaded. */
  onEnd?: (() => void) | undefined;
  onClear?: () => void;
}

/** Height of a row before it is measured, in pixels. */
const ROW = 40;

/** Entries in a table that renders only the rows in view. Near its end, it loads further entries. */
export function EntryTable({ entries, names, onOpen, onEnd, onClear }: EntryTableProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const known = useMemo(() => mergeNames(names), [names]);
  const virtual = useVirtualizer({ count: entries.length, getScrollElement: () => scroll.current, estimateSize: () => ROW, overscan: 12 });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const isNearEnd = last >= entries.length - 40;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  useRowKeys(scroll);
  if (entries.length === 0) {
    const { title, detail, action } = texts.empty;
    return (
      <EmptyState
        title={title}
        detail={detail}
        action={
          onClear && (
            <Button variant="default" onClick={onClear}>
              {action}
            </Button>
          )
        }
      />
    );
  }
  const before = rows[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (rows.at(-1)?.end ?? 0);
  return (
    <div ref={scroll} className={classes['scroll']}>
      <table className={classes['table']} aria-label={texts.title} aria-rowcount={entries.length}>
        <thead>
          <tr>
            {Object.entries(texts.columns).map(([key, title]) => (
              <th key={key} scope="col" className={classes[key]}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} />
          {rows.map(({ index }) => {
            const entry = entries[index];
            return (
              entry && (
                <EntryRow key={entry.id} entry={entry} index={index} names={known} measure={virtual.measureElement} onOpen={onOpen} />
              )
            );
          })}
          <Spacer height={after} />
        </tbody>
      </table>
    </div>
  );
}

/** Takes the place of the rows that are not rendered. */
function Spacer({ height }: { readonly height: number }) {
  return (
    <tr>
      <td colSpan={5} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

interface EntryRowProps {
  readonly entry: Entry;
  readonly index: number;
  readonly names: EntryNames;
  measure(row: HTMLTableRowElement | null): void;
  onOpen(id: string): void;
}

function EntryRow({ entry, index, names, measure, onOpen }: EntryRowProps) {
  const { id, at, allowed, action, resource, recordId, role, userId, reason, kind } = entry;
  return (
    <tr
      ref={measure}
      data-index={index}
      data-row
      aria-rowindex={index + 1}
      tabIndex={0}
      className={classes['row']}
      onClick={() => onOpen(id)}
      onKeyDown={({ key }) => key === 'Enter' && onOpen(id)}
    >
      <td className={classes['at']}>
        <Time at={at} isExact />
      </td>
      <td className={classes['verdict']}>
        <Verdict allowed={allowed} />
      </td>
      <td className={classes['who']}>
        {userId === undefined ? role : (names.users[userId] ?? userId)}
        {userId !== undefined && (
          <Text span size="xs" c="dimmed">
            {' '}
            {role}
          </Text>
        )}
      </td>
      <td className={classes['what']}>
        <Text span size="sm" fw={600}>
          {action}
        </Text>{' '}
        {resource}
        {recordId !== undefined && (
          <Text span size="xs" c="dimmed" className={classes['id'] ?? ''}>
            {' '}
            {recordId}
          </Text>
        )}
      </td>
      <td className={classes['reason']}>
        {kind !== 'access' && <Text span size="xs" c="dimmed">{`${kind} · `}</Text>}
        {reason}
      </td>
    </tr>
  );
}
