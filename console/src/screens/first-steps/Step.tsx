import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { firstStepsTexts as texts } from '../../texts/first-steps.ts';

/** Properties of a step. */
interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly detail: string;
  readonly isDone: boolean;
  readonly isNext: boolean;
  readonly children: ReactNode;
}

/** A step of the first run: what it is for, and its control. */
export function Step({ number, title, detail, isDone, isNext, children }: StepProps) {
  const step = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNext) step.current?.scrollIntoView({ block: 'nearest' });
  }, [isNext]);
  return (
    <Paper ref={step} withBorder p="md" {...(isNext && { bd: '2px solid var(--mantine-primary-color-filled)' })}>
      <Stack gap="sm" align="flex-start">
        <Group gap="sm">
          <Title order={2} size="h4">
            {number}. {title}
          </Title>
          {isDone && (
            <Badge color="green" leftSection={<span aria-hidden="true">✓</span>}>
              {texts.done}
            </Badge>
          )}
          {isNext && <Badge>{texts.next}</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          {detail}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
