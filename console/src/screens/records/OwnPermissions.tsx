import { Badge, Paper, Stack, Text, Title } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.permissions;
const MARKS = {
  allow: { mark: '✓', color: 'green' },
  deny: { mark: '✕', color: 'red' },
  conditional: { mark: '?', color: 'yellow' },
} as const;

/** The actions that the caller may perform on a record, and the reasons of denials. */
export function OwnPermissions({ permissions }: { readonly permissions: readonly Schemas['api.OwnPermission'][] }) {
  if (permissions.length === 0) return null;
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Title order={2} size="h5">
          {texts.title}
        </Title>
        {permissions.map(({ action, effect, reason }) => (
          <div key={action}>
            <Badge color={MARKS[effect].color} leftSection={<span aria-hidden="true">{MARKS[effect].mark}</span>}>
              {action} {texts[effect]}
            </Badge>
            {effect !== 'allow' && (
              <Text size="sm" c="dimmed">
                {reason}
              </Text>
            )}
          </div>
        ))}
      </Stack>
    </Paper>
  );
}
