import { Alert, Card, Stack, Text, Title } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolateNames, sentence } from '../../texts/sentence.ts';
import type { UserNames } from './condition-words.ts';
import { DecisionTrace } from './DecisionTrace.tsx';
import { NearMisses } from './NearMisses.tsx';
import { ResidualCondition } from './ResidualCondition.tsx';
import { UserNamesContext } from './trace-vocabulary.ts';

/** The explanation of a decision, as access tests, audit entries and replays return it. */
export type Explained = Pick<Schemas['admin.ExplainedReplay'], 'note' | 'residual' | 'ties' | 'trace' | 'when' | 'wouldAllow'> & {
  readonly warnings?: readonly string[];
};

const NO_USERS: UserNames = {};

/** Properties of an explanation. */
interface ExplanationProps {
  readonly explained: Explained;
  /** The names of the users whose ids the conditions compare. */
  readonly users?: UserNames | undefined;
}

/** Explains a decision: near misses, residual condition, and the trace of the rules. */
export function Explanation({
  explained: { note, residual, ties = [], trace = [], when, wouldAllow = [], warnings = [] },
  users = NO_USERS,
}: ExplanationProps) {
  const texts = decisionsTexts.trace;
  return (
    <UserNamesContext value={users}>
      <Stack gap="md">
        {warnings.map((warning) => (
          <Alert key={warning} color="yellow">
            {isolateNames(warning)}
          </Alert>
        ))}
        {note !== undefined && <Text size="sm">{isolateNames(note)}</Text>}
        {when !== undefined && <ResidualCondition when={when} residual={residual} />}
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
    </UserNamesContext>
  );
}
