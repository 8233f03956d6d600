import { Badge, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PolicyDifference } from '../api/policies.ts';
import { policyDiffTexts as texts } from '../texts/policy-diff.ts';
import { isolateNames } from '../texts/sentence.ts';
import classes from './PolicyDiff.module.css';

const LOOKS = {
  added: { color: 'green', mark: '+' },
  removed: { color: 'red', mark: '−' },
  changed: { color: 'blue', mark: '~' },
  moved: { color: 'gray', mark: '↕' },
} as const;

/** Properties of differences. */
interface PolicyDiffProps {
  readonly differences: readonly PolicyDifference[];
  /** Returns the action of a difference; undefined if it has none. */
  readonly actionOf?: (difference: PolicyDifference) => ReactNode;
}

/** The differences between two versions of a policy: a sentence for each, with both values. */
export function PolicyDiff({ differences, actionOf }: PolicyDiffProps) {
  if (differences.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {texts.none}
      </Text>
    );
  return (
    <ul className={classes['list'] ?? ''}>
      {differences.map((difference) => (
        <li key={`${difference.kind} ${difference.path}`}>
          <Difference difference={difference} action={actionOf?.(difference)} />
        </li>
      ))}
    </ul>
  );
}

function Difference({ difference, action }: { readonly difference: PolicyDifference; readonly action: ReactNode }) {
  const { kind, meaning, path, before, after } = difference;
  const { color, mark } = LOOKS[kind];
  // The sentence contains both values of a simple member.
  const hasValues = kind !== 'moved' && [before, after].some((value) => typeof value === 'object' && value !== null);
  return (
    <Stack gap={4}>
      <Group gap="xs" align="flex-start">
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <Badge color={color} leftSection={<span aria-hidden="true">{mark}</span>}>
            {texts.kinds[kind]}
          </Badge>
          <Text size="sm" className={classes['meaning'] ?? ''}>
            {isolateNames(meaning)} <Code>{path}</Code>
          </Text>
        </Group>
        {action}
      </Group>
      {hasValues && (
        <details className={classes['values'] ?? ''}>
          <summary>{texts.values}</summary>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {before !== undefined && <Value title={texts.before} value={before} />}
            {after !== undefined && <Value title={texts.after} value={after} />}
          </SimpleGrid>
        </details>
      )}
    </Stack>
  );
}

function Value({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Code block className={classes['code'] ?? ''}>
        {JSON.stringify(value, null, 2)}
      </Code>
    </div>
  );
}
