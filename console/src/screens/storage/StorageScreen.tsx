import { Alert, Code, List, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { storageTexts as texts } from '../../texts/service.ts';
import { MigrationHistory } from './MigrationHistory.tsx';
import { PlanDiff } from './PlanDiff.tsx';

/** The plan of the next migration, and the history of those performed. */
export function StorageScreen() {
  const plan = useQuery({
    queryKey: ['storage', 'plan'],
    queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/storage/plan', { signal }))).data,
    staleTime: 0,
  });
  return (
    <Page title={texts.title} description={texts.description}>
      <QueryState query={plan}>{(data) => <Plan plan={data} />}</QueryState>
      <Title order={2} size="h4">
        {texts.history}
      </Title>
      <MigrationHistory />
    </Page>
  );
}

function Plan({ plan: { steps, held, hash, mistakes } }: { readonly plan: Schemas['admin.StoragePlan'] }) {
  if (mistakes.length > 0) {
    return (
      <Alert color="red" title={texts.mistakes}>
        <List size="sm">
          {mistakes.map((mistake) => (
            <List.Item key={mistake}>{mistake}</List.Item>
          ))}
        </List>
      </Alert>
    );
  }
  if (steps.length === 0) return <EmptyState title={texts.upToDate.title} detail={texts.upToDate.detail} />;
  return (
    <Stack>
      <Title order={2} size="h4">
        {texts.pending}
      </Title>
      {held.length > 0 && (
        <Alert color="yellow" title={texts.held(held.join(', '))}>
          {texts.apply} <Code>bailiwick storage apply --allow {hash}</Code>
        </Alert>
      )}
      <PlanDiff steps={steps} />
    </Stack>
  );
}
