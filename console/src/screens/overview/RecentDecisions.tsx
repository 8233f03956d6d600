import { Box, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { Time } from '../../components/Time.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { overviewTexts } from '../../texts/overview.ts';
import { sentence } from '../../texts/sentence.ts';

/** The newest decisions. Each opens its explanation. */
export function RecentDecisions({ decisions }: { readonly decisions: Schemas['admin.Analytics']['recentActivity'] }) {
  if (decisions.length === 0) return <Text c="dimmed">{overviewTexts.recent.none}</Text>;
  return (
    <Stack gap={6}>
      {decisions.slice(0, 10).map(({ id, at, allowed, action, resource, role }) => (
        <Group key={id} gap="xs" wrap="nowrap" justify="space-between">
          <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
            {/* The texts behind the verdicts begin in one column. */}
            <Box miw={84} style={{ flexShrink: 0 }}>
              <Verdict allowed={allowed} />
            </Box>
            <TextLink to="/decisions/$id" params={{ id }} size="sm" truncate>
              {sentence`${role} · ${action} ${resource}`}
            </TextLink>
          </Group>
          <Text size="xs" c="dimmed">
            <Time at={at} isExact />
          </Text>
        </Group>
      ))}
    </Stack>
  );
}
