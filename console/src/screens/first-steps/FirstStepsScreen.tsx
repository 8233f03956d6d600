import { Alert, List, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { Page } from '../../components/Page.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { firstStepsTexts as texts } from '../../texts/first-steps.ts';
import { AskStep } from './AskStep.tsx';
import { AssignStep } from './AssignStep.tsx';
import { DecisionStep } from './DecisionStep.tsx';
import { PolicyStep } from './PolicyStep.tsx';
import { firstDecisionQuery, firstPoliciesQuery, wasAskedQuery } from './queries.ts';

/** Leads from the set-up to the first explained decision. The steps that are done follow from what is stored, so a reload resumes. */
export function FirstStepsScreen() {
  const policies = useQuery(firstPoliciesQuery);
  const asked = useQuery(wasAskedQuery);
  const first = useQuery(firstDecisionQuery);
  const { data: wasAsked = false } = asked;
  const { data: newest } = first;
  // The steps load the catalogue, too.
  const failed = [useQuery(catalogueQuery), asked, first].find(({ error }) => error !== null);
  return (
    <Page title={texts.title} description={texts.description} actions={<TextLink to="/">{texts.skip}</TextLink>}>
      {failed && <ProblemAlert error={failed.error} onRetry={failed.refetch} />}
      <QueryState query={policies}>
        {(stored) => {
          const roles = stored.flatMap(({ assignments }) => assignments.roles);
          const isAssigned = roles.length > 0 || stored.some(({ assignments }) => assignments.users > 0);
          return (
            <Stack maw={720}>
              <PolicyStep policies={stored} />
              <AssignStep policies={stored} isDone={isAssigned} isNext={stored.length > 0 && !isAssigned} />
              <AskStep role={roles[0] ?? 'user'} isDone={wasAsked} isNext={isAssigned && !wasAsked} />
              <DecisionStep newest={newest?.id} isNext={isAssigned && wasAsked && newest === null} />
              {isAssigned && wasAsked && newest !== null && <NextSteps />}
            </Stack>
          );
        }}
      </QueryState>
    </Page>
  );
}

/** The screens for the work after the first decision. */
function NextSteps() {
  return (
    <Alert title={texts.after.title}>
      <List size="sm">
        {texts.after.items.map(({ to, label, detail }) => (
          <List.Item key={to}>
            <TextLink to={to} size="sm" underline="always">
              {label}
            </TextLink>
            {': '}
            {detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
