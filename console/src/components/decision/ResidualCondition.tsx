import { Code, Text } from '@mantine/core';
import { decisionsTexts } from '../../texts/decisions.ts';
import type { ConditionTrace } from './condition-words.ts';
import { describeResidual } from './residual-words.ts';
import { useTraceVocabulary } from './trace-vocabulary.ts';

/** A residual condition as the API returns it: its text, and its trace unless the text is cut. */
export interface Residual {
  readonly when?: string | undefined;
  readonly residual?: ConditionTrace | undefined;
}

/** The condition that a request must still meet, in words. A condition that is too long for words is shown as the API prints it. */
export function ResidualWords({ when, residual }: Residual) {
  const vocabulary = useTraceVocabulary();
  if (residual === undefined) return <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>{when}</Code>;
  return <span style={{ overflowWrap: 'anywhere' }}>{describeResidual(residual, vocabulary)}</span>;
}

/** The condition that a request must still meet, with its title. */
export function ResidualCondition(residual: Residual) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {decisionsTexts.trace.when}
      </Text>
      <Text size="sm">
        <ResidualWords {...residual} />
      </Text>
    </div>
  );
}
