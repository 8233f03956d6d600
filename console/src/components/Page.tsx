import { Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { sentence } from '../texts/sentence.ts';
import { shellTexts } from '../texts/shell.ts';

/** Properties of a page. */
interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A screen: its title, which is also that of the document, its actions and its content. */
export function Page({ title, description, actions, children }: PageProps) {
  useDocumentTitle(sentence`${title} · ${shellTexts.product}`);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" component="div">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
