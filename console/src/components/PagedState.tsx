import { Stack } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoadMore } from './LoadMore.tsx';
import { QueryState } from './QueryState.tsx';

/** Properties of a paged list. */
interface PagedStateProps<Item> {
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly items: readonly Item[] }>>;
  /** Number of lines of the skeleton. */
  readonly lines?: number;
  /** Renders the items of all loaded pages. */
  children(items: readonly Item[]): ReactNode;
}

/** Renders the loaded pages of a query, and a button that loads the next one. */
export function PagedState<Item>({ query, lines = 6, children }: PagedStateProps<Item>) {
  const { data, error, refetch } = query;
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <Stack>
      <QueryState query={{ data: items, error, refetch }} lines={lines}>
        {children}
      </QueryState>
      <LoadMore query={query} />
    </Stack>
  );
}
