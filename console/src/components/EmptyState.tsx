import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shown instead of a table without rows: a sentence and one action. */
export function EmptyState({ title, detail, action }: { readonly title: string; readonly detail?: string; readonly action?: ReactNode }) {
  return (
    <Paper withBorder p="xl" radius="md">
      <Stack align="center" gap="xs">
        <Text fw={600} ta="center">
          {title}
        </Text>
        {detail !== undefined && (
          <Text c="dimmed" size="sm" ta="center">
            {detail}
          </Text>
        )}
        {action}
      </Stack>
    </Paper>
  );
}
