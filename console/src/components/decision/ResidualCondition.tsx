import { Code, Text } from '@mantine/core';
import { decisionsTexts } from '../../texts/decisions.ts';

/** The condition that a request must still meet, as text. */
export function ResidualCondition({ when }: { readonly when: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {decisionsTexts.trace.when}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {when}
      </Code>
    </div>
  );
}
