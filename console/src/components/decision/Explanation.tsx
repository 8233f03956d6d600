import { Alert, Card, Stack, Text, Title } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolate, isolateNames, sentence } from '../../texts/sentence.ts';
import type { NamesById } from '../names-by-id.ts';
import { PolicyLink } from '../PolicyLink.tsx';
import { DecisionTrace } from './DecisionTrace.tsx';
import type { DeniedUpdate } from './denied-update.ts';
import { NamedConditions } from './NamedConditions.tsx';
import { NearMisses } from './NearMisses.tsx';
import { ResidualCondition } from './ResidualCondition.tsx';
import { UpdateContext } from './trace-vocabulary.ts';

/** The explanation of a decision, as access tests, audit entries and replays return it. */
export type Explained = Pick<Schemas['admin.ExplainedReplay'], 'note' | 'residual' | 'ties' | 'trace' | 'when' | 'wouldAllow'> & {
  readonly warnings?: readonly string[];
};

/** Properties of an explanation. */
interface ExplanationProps {
  readonly explained: Explained;
  /** The names of the users whose ids the conditions compare. */
  readonly users?: NamesById | undefined;
  /** The resource of the decision. */
  readonly resource: string;
  /** The update that was denied, whose values the conditions name. */
  readonly update?: DeniedUpdate | undefined;
}

/** Explains a decision: near misses, residual condition, and the trace of the rules. */
export function Explanation({
  explained: { note, residual, ties = [], trace = [], when, wouldAllow = [], warnings = [] },
  users,
  resource,
  update,
}: ExplanationProps) {
  const texts = decisionsTexts.trace;
  const traces = [...trace.map(({ condition }) => condition), ...wouldAllow.flatMap(({ unmet }) => unmet), ...(residual ? [residual] : [])];
  return (
    <UpdateContext value={update}>
      <NamedConditions decided={traces.map((each) => ({ trace: each, resource }))} users={users}>
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
                  {rule.effect} ·{' '}
                  <PolicyLink id={policy.id} rule={rule.id}>
                    {isolate(policy.name)}
                    {rule.description !== undefined && sentence`, ${rule.description}`}
                  </PolicyLink>
                </Text>
              ))}
            </Card>
          )}
        </Stack>
      </NamedConditions>
    </UpdateContext>
  );
}
