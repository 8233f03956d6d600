import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { firstStepsTexts as texts } from '../../texts/first-steps.ts';
import { AssignStep } from './AssignStep.tsx';
import { PolicyStep } from './PolicyStep.tsx';
import { firstDecisionQuery, firstPoliciesQuery } from './queries.ts';
import { Step } from './Step.tsx';

/** Leads from the set-up to the first explained decision. The steps that are done follow from what is stored, so a reload resumes. */
export function FirstStepsScreen() {
  const policies = useQuery(firstPoliciesQuery);
  return (
    <Page title={texts.title} description={texts.description} actions={<TextLink to="/">{texts.skip}</TextLink>}>
      <QueryState query={policies}>
        {(stored) => {
          const hasPolicy = stored.length > 0;
          const isAssigned = stored.some(({ assignments }) => assignments.roles.length > 0 || assignments.users > 0);
          return (
            <Stack maw={720}>
              <PolicyStep policies={stored} />
              <AssignStep policies={stored} isDone={isAssigned} isNext={hasPolicy && !isAssigned} />
              <SimulateStep isNext={isAssigned} />
              <DecisionStep />
            </Stack>
          );
        }}
      </QueryState>
    </Page>
  );
}

function SimulateStep({ isNext }: { readonly isNext: boolean }) {
  const navigate = useNavigate();
  const { title, detail, open } = texts.simulate;
  return (
    <Step number={3} title={title} detail={detail} isDone={false} isNext={isNext}>
      <Button variant={isNext ? 'filled' : 'default'} onClick={() => void navigate({ to: '/simulator' })}>
        {open}
      </Button>
    </Step>
  );
}

function DecisionStep() {
  const { data } = useQuery(firstDecisionQuery);
  const { title, detail, none, open, data: records } = texts.decision;
  return (
    <Step number={4} title={title} detail={detail} isDone={false} isNext={false}>
      {data ? (
        <TextLink to="/decisions/$id" params={{ id: data.id }}>
          {open}
        </TextLink>
      ) : (
        <Text size="sm">
          {none} <TextLink to="/data">{records}</TextLink>
        </Text>
      )}
    </Step>
  );
}
