import { Button, Group, Select, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { OF_RECORDS } from '../../api/record-actions.ts';
import { AccessAnswer, type AccessTest, accessTestQuery } from '../../components/decision/AccessAnswer.tsx';
import { exampleResource } from '../../components/example-resource.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { firstStepsTexts } from '../../texts/first-steps.ts';
import { wasAskedQuery } from './queries.ts';
import { Step } from './Step.tsx';

const texts = firstStepsTexts.ask;

/** Properties of the step. */
interface AskStepProps {
  /** A role that a policy is assigned to. */
  readonly role: string;
  readonly isDone: boolean;
  readonly isNext: boolean;
}

/** Asks what the policies decide for a role, and shows the explained answer. */
export function AskStep({ role, isDone, isNext }: AskStepProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const resources = catalogue?.definitions.map(({ name }) => name) ?? [];
  const [action, setAction] = useState<AccessTest['action']>('create');
  const [resource = exampleResource(resources), setResource] = useState<string>();
  const [asked, setAsked] = useState<AccessTest>();
  const queryClient = useQueryClient();
  const ask = (): void => {
    if (resource === undefined) return;
    const test: AccessTest = { action, resource: { name: resource }, user: { role }, ...(OF_RECORDS.has(action) && { anyRecord: true }) };
    setAsked(test);
    // The answer that is shown to the same question may be out of date.
    void queryClient.invalidateQueries({ queryKey: accessTestQuery(test).queryKey });
    queryClient.setQueryData(wasAskedQuery.queryKey, true);
  };
  return (
    <Step number={3} title={texts.title} detail={texts.detail} isDone={isDone} isNext={isNext}>
      <Group align="flex-end">
        <Select
          label={texts.action}
          allowDeselect={false}
          w={150}
          data={catalogue?.ruleActions ?? []}
          value={action}
          onChange={(next) => next !== null && setAction(next)}
        />
        <Select
          label={texts.resource}
          allowDeselect={false}
          w={260}
          data={resources}
          value={resource ?? null}
          onChange={(next) => next !== null && setResource(next)}
        />
        <Button variant={isNext ? 'filled' : 'default'} disabled={resource === undefined} onClick={ask}>
          {texts.submit(role)}
        </Button>
      </Group>
      {asked && <AccessAnswer test={asked} title={texts.answer} />}
      <Text size="sm">
        {texts.more}{' '}
        <TextLink to="/simulator" underline="always" search={{ role, action, ...(resource !== undefined && { resource }) }}>
          {texts.open}
        </TextLink>
      </Text>
    </Step>
  );
}
