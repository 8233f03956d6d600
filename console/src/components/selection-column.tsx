import { Checkbox } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';
import type { Column } from './DataTable.tsx';
import { rangeTo, type Selection } from './selection.ts';

/** Properties of the column that selects items. */
interface SelectionColumnOptions<Item> {
  /** The loaded items, in their order. */
  readonly items: readonly Item[];
  readonly selected: Selection<Item>;
  /** Returns the accessible name of the box of an item. */
  labelOf(item: Item): string;
  onChange(selected: Selection<Item>): void;
}

/** Returns the column with which items are selected: by a click, with Shift from the last selected item on, or with the key `x`. */
export function selectionColumn<Item extends { readonly id: string }>(options: SelectionColumnOptions<Item>): Column<Item> {
  const { items, selected, labelOf, onChange } = options;
  return {
    key: 'select',
    title: commonTexts.select,
    width: 60,
    render: (item) => (
      <Checkbox
        data-select
        aria-label={labelOf(item)}
        checked={selected.has(item.id)}
        onChange={({ currentTarget, nativeEvent }) => {
          const next = new Map(selected);
          const isRange = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
          for (const each of isRange ? rangeTo(item, items, selected) : [item]) {
            if (currentTarget.checked) next.set(each.id, each);
            else next.delete(each.id);
          }
          onChange(next);
        }}
      />
    ),
  };
}
