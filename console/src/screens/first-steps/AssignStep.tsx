import { Button, Group, Select, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { firstStepsTexts } from '../../texts/first-steps.ts';
import { Step } from './Step.tsx';

const texts = firstStepsTexts.assign;

type Summary = Schemas['admin.PolicySummary'];
type Role = Summary['assignments']['roles'][number];

/** Properties of the step. */
interface AssignStepProps {
  readonly policies: readonly Summary[];
  readonly isDone: boolean;
  readonly isNext: boolean;
}

/** Maximum number of assignments that the step names. A service that is in use has many. */
const SHOWN = 3;

function Assignments({ policies }: Pick<AssignStepProps, 'policies'>) {
  const all = policies.flatMap(({ id, name, assignments }) => assignments.roles.map((role) => ({ key: `${id} ${role}`, name, role })));
  return (
    <>
      {all.slice(0, SHOWN).map(({ key, name, role }) => (
        <Text key={key} size="sm">
          {texts.assigned(name, role)}
        </Text>
      ))}
      {all.length > SHOWN && (
        <Text size="sm" c="dimmed">
          {texts.more(all.length - SHOWN)}
        </Text>
      )}
    </>
  );
}

/** Assigns a policy to a role. */
export function AssignStep({ policies, isDone, isNext }: AssignStepProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  const [role, setRole] = useState('user');
  const queryClient = useQueryClient();
  // The newest policy is the one that the step before has created.
  const policyId = chosen ?? policies[0]?.id;
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      if (policyId === undefined) return;
      const path = { policyId, role: role as Role };
      await bodyOf(client.POST('/admin/api/policies/{policyId}/assign/role/{role}', { params: { path }, body: {} }));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['policies'] }),
  });
  return (
    <Step number={2} title={texts.title} detail={texts.detail} isDone={isDone} isNext={isNext}>
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
      <Assignments policies={policies} />
      <Group align="flex-end">
        <Select
          label={texts.policy}
          allowDeselect={false}
          w={260}
          data={policies.map(({ id, name }) => ({ value: id, label: name }))}
          value={policyId ?? null}
          onChange={setChosen}
        />
        <Select
          label={texts.role}
          allowDeselect={false}
          w={150}
          data={catalogue?.roles ?? []}
          value={role}
          onChange={(next) => next !== null && setRole(next)}
        />
        <Button variant={isNext ? 'filled' : 'default'} loading={isPending} disabled={policyId === undefined} onClick={() => mutate()}>
          {texts.assign}
        </Button>
      </Group>
    </Step>
  );
}
