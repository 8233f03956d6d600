import { Box, Card, Group, NativeSelect, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { KeyboardEvent, ReactNode } from 'react';
import { commonTexts } from '../texts/common.ts';
import classes from './DataTable.module.css';

/** A column of a table. */
export interface Column<Item> {
  readonly key: string;
  readonly title: string;
  /** The sort key of the column, if the list can be sorted by it. */
  readonly sort?: string | undefined;
  readonly width?: string | number;
  render(item: Item): ReactNode;
}

/** Properties of a table. */
interface DataTableProps<Item> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  idOf(item: Item): string;
  /** Opens an item: by click or Enter. Without it, Enter follows the element of the row with the attribute `data-open`. */
  onOpen?(item: Item): void;
  /** The present order: a sort key, descending with a leading `-`. */
  readonly order?: string | undefined;
  onSort?(order: string): void;
}

/** A table that a keyboard can use; below 48 em, each row is a card. Sorting and paging are the server's. */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  return isNarrow ? <Cards {...props} /> : <Rows {...props} />;
}

/** The background of the row under the pointer. It differs from that of badges. */
const HOVERED = 'light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-5))';

function Rows<Item>({ label, columns, items, idOf, onOpen, order, onSort }: DataTableProps<Item>) {
  return (
    <Table.ScrollContainer minWidth={600} type="native">
      <Table aria-label={label} highlightOnHover={onOpen !== undefined} highlightOnHoverColor={HOVERED} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} order={order} onSort={onSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={idOf(item)} {...rowProps(item, onOpen)}>
              {columns.map((column) => (
                <Table.Td key={column.key} className={classes['cell']}>
                  {column.render(item)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface HeadingProps {
  readonly column: Pick<Column<never>, 'title' | 'sort' | 'width'>;
  readonly order: string | undefined;
  readonly onSort: ((order: string) => void) | undefined;
}

function Heading({ column: { title, sort, width }, order, onSort }: HeadingProps) {
  const direction = order === sort ? 'ascending' : order === `-${sort}` ? 'descending' : 'none';
  // A column with a width in pixels is wide enough for its heading, also if the table is wider than its place.
  const style = { ...(width !== undefined && { width }), ...(typeof width === 'number' && { whiteSpace: 'nowrap' as const }) };
  if (sort === undefined || onSort === undefined) return <Table.Th style={style}>{title}</Table.Th>;
  const mark = direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : '';
  return (
    <Table.Th style={style} aria-sort={direction}>
      <UnstyledButton fw={700} fz="sm" onClick={() => onSort(direction === 'ascending' ? `-${sort}` : sort)}>
        {title}
        <span aria-hidden="true">{mark}</span>
      </UnstyledButton>
    </Table.Th>
  );
}

function Cards<Item>({ label, columns, items, idOf, onOpen, order, onSort }: DataTableProps<Item>) {
  const list = (
    <ul aria-label={label} className={classes['cards']}>
      {items.map((item) => (
        <li key={idOf(item)}>
          <Card withBorder padding="sm" {...rowProps(item, onOpen)}>
            <Stack gap={4}>
              {columns.map((column) => (
                <Group key={column.key} gap="xs" align="baseline" wrap="nowrap">
                  <Text size="xs" c="dimmed" w={96} style={{ flexShrink: 0 }}>
                    {column.title}
                  </Text>
                  <Box className={classes['cell']} fz="sm">
                    {column.render(item)}
                  </Box>
                </Group>
              ))}
            </Stack>
          </Card>
        </li>
      ))}
    </ul>
  );
  const sorted = columns.filter(({ sort }) => sort !== undefined);
  if (onSort === undefined || sorted.length === 0) return list;
  return (
    <Stack gap="sm">
      <OrderSelect columns={sorted} order={order} onSort={onSort} />
      {list}
    </Stack>
  );
}

interface OrderSelectProps {
  readonly columns: readonly Pick<Column<never>, 'title' | 'sort'>[];
  readonly order: string | undefined;
  onSort(order: string): void;
}

/** The order of the cards, which have no headings to sort by. */
function OrderSelect({ columns, order = '', onSort }: OrderSelectProps) {
  const orders = columns.flatMap(({ title, sort }) => [
    { value: `${sort}`, label: commonTexts.ascending(title) },
    { value: `-${sort}`, label: commonTexts.descending(title) },
  ]);
  // The order of an address can be another one.
  const isKnown = orders.some(({ value }) => value === order);
  return (
    <NativeSelect
      label={commonTexts.order}
      data={
        isKnown
          ? orders
          : [{ value: order, label: order === '' ? commonTexts.defaultOrder : commonTexts.otherOrder, disabled: true }, ...orders]
      }
      value={order}
      onChange={({ currentTarget }) => onSort(currentTarget.value)}
    />
  );
}

/** Returns the properties of a row or card, which `j` and `k` reach. It is a stop of Tab only if it opens its item. */
function rowProps<Item>(item: Item, onOpen: ((item: Item) => void) | undefined) {
  if (onOpen === undefined) return { tabIndex: -1, 'data-row': true };
  return {
    tabIndex: 0,
    'data-row': true,
    className: classes['opens'],
    onClick: (event: { readonly target: EventTarget }) => {
      // A link or button inside the row has its own meaning.
      if (!(event.target as HTMLElement).closest('a, button, input, label')) onOpen(item);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(item);
    },
  };
}
