import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { catalogueQuery } from '../../api/queries.ts';
import { listForDecision } from '../../api/records.ts';
import { exampleResource } from '../../components/example-resource.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { firstStepsTexts } from '../../texts/first-steps.ts';
import { Step } from './Step.tsx';

const texts = firstStepsTexts.decision;

/** Properties of the step. */
interface DecisionStepProps {
  /** The id of the newest entry of a request to records; undefined if there is none. */
  readonly newest: string | undefined;
  readonly isNext: boolean;
}

/** Sends a first request, and opens the entry of its decision. */
export function DecisionStep({ newest, isNext }: DecisionStepProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const navigate = useNavigate();
  const resource = exampleResource(catalogue?.definitions.map(({ name }) => name) ?? []);
  const watch = useScreenWatch();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (listed: string) => {
      const isScreenOpen = watch();
      const id = await listForDecision(listed);
      if (isScreenOpen()) await navigate({ to: '/decisions/$id', params: { id } });
    },
  });
  return (
    <Step number={4} title={texts.title} detail={texts.detail} isDone={newest !== undefined} isNext={isNext}>
      {error !== null && <ProblemAlert error={error} onRetry={() => resource !== undefined && mutate(resource)} />}
      {resource !== undefined && (
        <Button variant={isNext ? 'filled' : 'default'} loading={isPending} onClick={() => mutate(resource)}>
          {texts.send(resource)}
        </Button>
      )}
      {newest !== undefined && (
        <TextLink to="/decisions/$id" params={{ id: newest }}>
          {texts.open}
        </TextLink>
      )}
    </Step>
  );
}
