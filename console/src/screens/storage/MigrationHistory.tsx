import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Time } from '../../components/Time.tsx';
import { storageTexts as texts } from '../../texts/service.ts';
import { RiskBadge } from './MigrationStep.tsx';
import { describeStep } from './plan-changes.ts';

type Migration = Schemas['admin.Evolution'];

/** The migrations that were performed, the newest first. */
export function MigrationHistory() {
  const history = useQuery({
    queryKey: ['storage', 'history'],
    queryFn: async ({ signal }) =>
      (await bodyOf(client.GET('/admin/api/storage/history', { params: { query: { limit: 200 } }, signal }))).data,
  });
  return (
    <QueryState query={history}>
      {(migrations) =>
        migrations.length === 0 ? (
          <Text c="dimmed">{texts.noHistory}</Text>
        ) : (
          <DataTable label={texts.history} columns={COLUMNS} items={migrations} idOf={({ id }) => id} />
        )
      }
    </QueryState>
  );
}

/** Number of steps that are always shown. The first migration has a step for each table and index. */
const SHOWN = 8;

function PerformedSteps({ steps }: Pick<Migration, 'steps'>) {
  return (
    <Stack gap={4}>
      <StepLines steps={steps.slice(0, SHOWN)} />
      {steps.length > SHOWN && (
        <details>
          <summary>{texts.moreSteps(steps.length - SHOWN)}</summary>
          <Stack gap={4} pt={4}>
            <StepLines steps={steps.slice(SHOWN)} />
          </Stack>
        </details>
      )}
    </Stack>
  );
}

function StepLines({ steps }: Pick<Migration, 'steps'>) {
  return steps.map((step) => (
    <Group key={`${step.kind} ${describeStep(step)}`} gap={6} wrap="nowrap" align="flex-start">
      <RiskBadge risk={step.risk} />
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {describeStep(step)}
      </Text>
    </Group>
  ));
}

const COLUMNS: readonly Column<Migration>[] = [
  { key: 'at', title: texts.columns.at, width: 190, render: ({ at }) => <Time at={at} /> },
  { key: 'actor', title: texts.columns.actor, width: 120, render: ({ actor }) => actor },
  {
    key: 'steps',
    title: texts.columns.steps,
    render: ({ steps }) => <PerformedSteps steps={steps} />,
  },
  { key: 'duration', title: texts.columns.duration, width: 110, render: ({ durationMs }) => `${durationMs.toLocaleString()} ms` },
];
