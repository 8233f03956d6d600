import { Button, Center } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { commonTexts } from '../texts/common.ts';

/** The parts of a paged query that load its next page. */
type Pages = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;

/** A button that loads the next page of a list; nothing on the last page. */
export function LoadMore({ query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: { readonly query: Pages }) {
  if (!hasNextPage) return null;
  return (
    <Center>
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {commonTexts.loadMore}
      </Button>
    </Center>
  );
}
