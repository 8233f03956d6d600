import { ActionIcon } from '@mantine/core';
import { type FocusEvent, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { ActionMenu } from '../../components/ActionMenu.tsx';
import { Time } from '../../components/Time.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { isolateNames } from '../../texts/sentence.ts';
import classes from './EntryTable.module.css';
import { callerOf, describeCell, describeFilter } from './entry-names.ts';
import type { EntryFilter } from './filters.ts';
import type { Entry, EntryNames } from './queries.ts';
import type { FilterName } from './search.ts';

/** Properties of a row. */
interface EntryRowProps {
  readonly entry: Entry;
  readonly index: number;
  /** Pixels from the first row. */
  readonly top: number;
  readonly names: EntryNames;
  readonly measure: ((row: HTMLTableRowElement | null) => void) | undefined;
  onOpen(id: string): void;
  onFilter(filter: EntryFilter): void;
}

/** The members of an entry in each column of the table, by which its menu filters. */
const COLUMN_MEMBERS = {
  verdict: ['allowed'],
  who: ['userId', 'role'],
  what: ['action', 'resource', 'recordId'],
  reason: ['kind', 'policyId', 'ruleId', 'outcome'],
} as const satisfies Readonly<Record<string, readonly FilterName[]>>;

type ColumnName = keyof typeof COLUMN_MEMBERS;

/** The hover, the focus and the open menu of a row, for the entry that it shows. */
interface RowUse {
  /** The id of the entry. */
  readonly id: string;
  readonly isHovered: boolean;
  readonly hasFocus: boolean;
  /** The column whose menu is open. */
  readonly opened: ColumnName | undefined;
}

const UNUSED: RowUse = { id: '', isHovered: false, hasFocus: false, opened: undefined };

/**
 * A row of the table of entries. While the pointer or the focus is in it, each cell has a menu that filters by its values. Each frame
 * of a scroll adds rows, so a row consists of plain elements instead of components, and renders again only if its properties change.
 */
export const EntryRow = memo(function EntryRow({ entry, index, top, names, measure, onOpen, onFilter }: EntryRowProps) {
  const { id, at, allowed, action, resource, recordId, role, userId, reason, kind } = entry;
  const [use, setUse] = useState<RowUse>(UNUSED);
  // A fast scroll shows another entry in the same element. Hover, focus and menu of the previous entry then end.
  const { isHovered, hasFocus, opened } = use.id === id ? use : UNUSED;
  const change = (next: Partial<RowUse>): void => setUse((before) => ({ ...(before.id === id ? before : UNUSED), ...next, id }));
  const row = useRef<HTMLTableRowElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element loses the focus when its entry changes
  useEffect(() => () => void (row.current === document.activeElement && row.current?.blur()), [id]);
  // A cell may be too narrow for its text: its tooltip has the whole text.
  const cell = (column: ColumnName, content: ReactNode): ReactNode => (
    <td title={describeCell(entry, column, names)}>
      {content}
      {(isHovered || hasFocus || opened === column) && (
        <CellMenu
          entry={entry}
          column={column}
          names={names}
          onFilter={onFilter}
          onToggle={(isOpen) => change({ opened: isOpen ? column : undefined })}
        />
      )}
    </td>
  );
  return (
    <tr
      ref={measure ?? row}
      data-index={index}
      data-row
      aria-rowindex={index + 1}
      tabIndex={0}
      className={classes['row']}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(id)}
      onKeyDown={({ key, target, currentTarget }) => key === 'Enter' && target === currentTarget && onOpen(id)}
      onMouseEnter={() => change({ isHovered: true })}
      onMouseLeave={() => change({ isHovered: false })}
      onFocus={() => change({ hasFocus: true })}
      onBlur={({ currentTarget, relatedTarget }: FocusEvent) => change({ hasFocus: currentTarget.contains(relatedTarget) })}
    >
      <td>
        <Time at={at} isExact />
      </td>
      {cell('verdict', <Verdict allowed={allowed} />)}
      {cell('who', <WithNote text={callerOf(entry, names)} note={userId === undefined ? '' : role} />)}
      {cell(
        'what',
        <>
          <strong>{action}</strong> <WithNote text={resource} note={recordId ?? ''} />
        </>,
      )}
      {cell(
        'reason',
        <>
          {kind !== 'access' && <span className={classes['secondary']}>{`${kind} · `}</span>}
          {isolateNames(reason)}
        </>,
      )}
    </tr>
  );
});

/** A text, and a smaller one behind it. */
function WithNote({ text, note }: { readonly text: string; readonly note: string }) {
  return (
    <>
      {text}
      {note !== '' && <span className={classes['secondary']}> {note}</span>}
    </>
  );
}

interface CellMenuProps {
  readonly entry: Entry;
  readonly column: ColumnName;
  readonly names: EntryNames;
  onFilter(filter: EntryFilter): void;
  onToggle(isOpen: boolean): void;
}

/** The filters by the values of a cell. */
function CellMenu({ entry, column, names, onFilter, onToggle }: CellMenuProps) {
  const filters = COLUMN_MEMBERS[column].flatMap((name): readonly EntryFilter[] => {
    const value = entry[name];
    if (value === undefined) return [];
    const only = { name, value: String(value), isExcluded: false };
    return name === 'allowed' ? [only] : [only, { ...only, isExcluded: true }];
  });
  return (
    // The row opens its entry by a click.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only stops the events of the menu
    // biome-ignore lint/a11y/useKeyWithClickEvents: the row ignores keys of the elements inside it
    <span className={classes['menu']} onClick={(event) => event.stopPropagation()}>
      <ActionMenu
        onToggle={onToggle}
        actions={filters.map((filter) => ({
          key: JSON.stringify(filter),
          label: describeFilter(filter, names),
          perform: () => onFilter(filter),
        }))}
        button={(props) => (
          <ActionIcon variant="default" size="sm" aria-label={texts.filterMenu(texts.columns[column])} {...props}>
            ⋯
          </ActionIcon>
        )}
      />
    </span>
  );
}
