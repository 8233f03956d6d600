import { Alert, Button, Grid, Paper, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { accessTestQuery } from '../../components/decision/AccessAnswer.tsx';
import { useLinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { exampleResource } from '../../components/example-resource.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { useCaller } from '../../shell/useSession.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { QuestionForm } from './QuestionForm.tsx';
import { simulatorRoute } from './route.ts';
import { isOutdated, missingValues, type SimulatorSearch, toAccessTest, withDraft } from './search.ts';
import { TestedAccess } from './TestedAccess.tsx';

/** Asks what the policies decide for a request, and explains the answer. The address is the question. */
export function SimulatorScreen() {
  const search = simulatorRoute.useSearch();
  const navigate = useNavigate({ from: '/simulator' });
  const catalogue = useQuery(catalogueQuery);
  const linked = useLinkedDraft(search.draft === 'none');
  const test = toAccessTest(search);
  // The same question with the draft and without it has one form, which keeps its input.
  const address = JSON.stringify(withDraft(search, true));
  const [typed, setTyped] = useState<{ readonly address: string; readonly question: SimulatorSearch }>();
  const question = typed?.address === address ? typed.question : search;
  const missing = missingValues(question);
  const { id: user } = useCaller();
  const resource = exampleResource(catalogue.data?.definitions.map(({ name }) => name) ?? []);
  const queryClient = useQueryClient();
  const ask = (next: SimulatorSearch): void => {
    const asked = toAccessTest(next);
    // The answer that is shown to the same question, with the draft or without it, may be out of date.
    if (asked !== undefined) void queryClient.invalidateQueries({ queryKey: accessTestQuery(asked).queryKey });
    // The draft of the address stays.
    void navigate({ search: withDraft(next, search.draft !== 'none'), hash: true });
  };
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
                  key={address}
                  catalogue={data}
                  asked={search}
                  onAsk={ask}
                  onChange={(next) => setTyped({ address, question: next })}
                />
              )}
            </QueryState>
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7, lg: 12 - form }}>
          {test === undefined ? (
            <EmptyState
              title={texts.emptyTitle}
              detail={texts.emptyDetail}
              action={
                resource !== undefined && (
                  <Button variant="default" onClick={() => ask({ user, action: 'list', resource })}>
                    {texts.example(resource)}
                  </Button>
                )
              }
            />
          ) : (
            <Stack>
              {missing.length > 0 && <Alert color="yellow">{texts.unrecorded(missing.join(', '))}</Alert>}
              <TestedAccess
                test={test}
                linked={linked}
                isOutdated={isOutdated(search, question)}
                onDraft={(isUsed) => void navigate({ search: withDraft(search, isUsed), hash: true })}
              />
            </Stack>
          )}
        </Grid.Col>
      </Grid>
    </Page>
  );
}
