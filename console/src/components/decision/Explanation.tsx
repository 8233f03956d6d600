import { Alert, Card, Stack, Text, Title } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolateNames, sentence } from '../../texts/sentence.ts';
import { DecisionTrace } from './DecisionTrace.tsx';
import { NearMisses } from './NearMisses.tsx';
import { ResidualCondition } from './ResidualCondition.tsx';

/** The explanation of a decision, as access tests, audit entries and replays return it. */
export type Explained = Pick<Schemas['admin.ExplainedReplay'], 'note' | 'ties' | 'trace' | 'when' | 'wouldAllow'> & {
  readonly warnings?: readonly string[];
};

/** Explains a decision: near misses, residual condition, and the trace of the rules. */
export function Explanation({
  explained: { note, ties = [], trace = [], when, wouldAllow = [], warnings = [] },
}: {
  readonly explained: Explained;
}) {
  const texts = decisionsTexts.trace;
  return (
    <Stack gap="md">
      {warnings.map((warning) => (
        <Alert key={warning} color="yellow">
          {isolateNames(warning)}
        </Alert>
      ))}
      {note !== undefined && <Text size="sm">{isolateNames(note)}</Text>}
      {when !== undefined && <ResidualCondition when={when} />}
      <NearMisses rules={wouldAllow} />
      {trace.length > 0 && (
        <div>
          <Title order={3} size="h5" mb="xs">
            {decisionsTexts.detail.trace}
          </Title>
          <DecisionTrace trace={trace} />
        </div>
      )}
      {ties.length > 0 && (
        <Card withBorder padding="sm">
          <Text size="sm" fw={600}>
            {texts.ties}
          </Text>
          {ties.map(({ policy, rule }) => (
            <Text key={rule.id} size="sm">
              {sentence`${rule.effect} · ${policy.name} ${rule.description ?? ''}`}
            </Text>
          ))}
        </Card>
      )}
    </Stack>
  );
}
