import { Button, Group, Select, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { templatesQuery } from '../../api/policies.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { firstStepsTexts } from '../../texts/first-steps.ts';
import { Step } from './Step.tsx';

const texts = firstStepsTexts.policy;

/** Creates a policy from a template. */
export function PolicyStep({ policies }: { readonly policies: readonly Schemas['admin.PolicySummary'][] }) {
  const { data: templates = [], error: missing, refetch } = useQuery(templatesQuery);
  const [id, setId] = useState('own-records');
  const queryClient = useQueryClient();
  const template = templates.find((each) => each.id === id);
  const create = useMutation({
    mutationFn: (body: Schemas['admin.PolicyInput']) => bodyOf(client.POST('/admin/api/policies', { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['policies'] }),
  });
  const isDone = policies.length > 0;
  return (
    <Step number={1} title={texts.title} detail={texts.detail} isDone={isDone} isNext={!isDone}>
      {missing !== null && <ProblemAlert error={missing} onRetry={refetch} />}
      {create.error !== null && <ProblemAlert error={create.error} onRepeat={() => template && create.mutate(template.template)} />}
      {isDone && <Text size="sm">{texts.has(policies.length)}</Text>}
      <Group align="flex-end">
        <Select
          label={texts.template}
          allowDeselect={false}
          w={260}
          data={templates.map(({ id: value, name }) => ({ value, label: name }))}
          value={id}
          onChange={(next) => next !== null && setId(next)}
        />
        <Button
          variant={isDone ? 'default' : 'filled'}
          loading={create.isPending}
          disabled={template === undefined}
          onClick={() => template && create.mutate(template.template)}
        >
          {texts.create}
        </Button>
      </Group>
      {template && <Text size="sm">{template.description}</Text>}
    </Step>
  );
}
