import { SimpleGrid, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { Explanation } from '../decision/Explanation.tsx';
import { QueryState } from '../QueryState.tsx';

/** An entry decided again under the policies in force and under the draft, with both traces. */
export function BothTraces({ entryId, draft, fill }: { readonly entryId: string; readonly draft: Draft; readonly fill: boolean }) {
  const replayed = useQuery({
    queryKey: ['replay', entryId, draft, fill],
    queryFn: ({ signal }) =>
      bodyOf(
        client.POST('/admin/api/decisions/{id}/replay', {
          params: { path: { id: entryId }, query: { names: true } },
          body: { draft, fill },
          signal,
        }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <QueryState query={replayed} lines={8}>
      {({ data: { entry, live, draft: drafted }, names }) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Stack gap="sm">
            <Title order={3} size="h5">
              {texts.live}
            </Title>
            {isolateNames(live.reason ?? '')}
            <Explanation explained={live} users={names?.users} resource={entry.resource} />
          </Stack>
          <Stack gap="sm">
            <Title order={3} size="h5">
              {texts.draftSide}
            </Title>
            {isolateNames(drafted?.reason ?? '')}
            {drafted && <Explanation explained={drafted} users={names?.users} resource={entry.resource} />}
          </Stack>
        </SimpleGrid>
      )}
    </QueryState>
  );
}
