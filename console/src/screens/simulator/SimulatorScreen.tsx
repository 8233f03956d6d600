import { Grid, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { catalogueQuery } from '../../api/queries.ts';
import { useLinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { QuestionForm } from './QuestionForm.tsx';
import { simulatorRoute } from './route.ts';
import { toAccessTest } from './search.ts';
import { TestedAccess } from './TestedAccess.tsx';

/** Asks what the policies decide for a request, and explains the answer. The address is the question. */
export function SimulatorScreen() {
  const search = simulatorRoute.useSearch();
  const navigate = useNavigate({ from: '/simulator' });
  const catalogue = useQuery(catalogueQuery);
  const linked = useLinkedDraft();
  const test = toAccessTest(search);
  // Two answers are beside each other.
  const form = linked.draft === undefined ? 4 : 3;
  return (
    <Page title={texts.title} description={texts.description}>
      <Grid>
        <Grid.Col span={{ base: 12, md: 5, lg: form }}>
          <Paper withBorder p="md">
            <QueryState query={catalogue}>
              {(data) => (
                <QuestionForm
                  key={JSON.stringify(search)}
                  catalogue={data}
                  asked={search}
                  // The draft of the address stays.
                  onAsk={(next) => void navigate({ search: next, hash: true })}
                />
              )}
            </QueryState>
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7, lg: 12 - form }}>
          {test === undefined ? (
            <EmptyState title={texts.emptyTitle} detail={texts.emptyDetail} />
          ) : (
            <TestedAccess test={test} linked={linked} />
          )}
        </Grid.Col>
      </Grid>
    </Page>
  );
}
