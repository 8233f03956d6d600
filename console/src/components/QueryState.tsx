import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { commonTexts } from '../texts/common.ts';
import { ProblemAlert } from './ProblemAlert.tsx';

/** Properties of a query's state. */
interface QueryStateProps<Data> {
  readonly query: { readonly data: Data | undefined; readonly error: Error | null; refetch(): unknown };
  /** Number of lines of the skeleton. */
  readonly lines?: number;
  children(data: Data): ReactNode;
}

/** Renders the data of a query; before, a skeleton; after a refused request, its problem. Data that was loaded before an error stays. */
export function QueryState<Data>({ query, lines = 6, children }: QueryStateProps<Data>) {
  const { data, error, refetch } = query;
  return (
    <>
      {error !== null && <ProblemAlert error={error} onRetry={refetch} />}
      {data !== undefined && children(data)}
      {data === undefined && error === null && <LoadingLines count={lines} />}
    </>
  );
}

/** A skeleton of lines. */
export function LoadingLines({ count }: { readonly count: number }) {
  return (
    <Stack gap="sm" aria-busy="true" aria-label={commonTexts.loading} role="status">
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are equal and never change places
        <Skeleton key={line} height={line === 0 ? 28 : 18} width={line % 3 === 2 ? '70%' : '100%'} />
      ))}
    </Stack>
  );
}
