import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Time } from '../../components/Time.tsx';
import { overviewTexts } from '../../texts/overview.ts';
import { sentence } from '../../texts/sentence.ts';
import { expiringQuery } from './queries.ts';

/** The assignments to users that end within a week, the first to end first. */
export function ExpiringAssignments() {
  const expiring = useQuery(expiringQuery);
  return (
    <QueryState query={expiring} lines={3}>
      {({ data, names }) =>
        data.length === 0 ? (
          <Text c="dimmed">{overviewTexts.expiring.none}</Text>
        ) : (
          <Stack gap={6}>
            {data.map((assignment) => {
              const { id, policyId, userId = '', expiresAt } = assignment;
              return (
                <Group key={id} justify="space-between" wrap="nowrap" gap="xs">
                  <PolicyLink id={policyId} tab="assignments" size="sm" truncate>
                    {sentence`${names?.policies[policyId] ?? policyId} · ${names?.users[userId] ?? userId}`}
                  </PolicyLink>
                  <Text size="xs" c="dimmed">
                    <Time at={expiresAt} />
                  </Text>
                </Group>
              );
            })}
          </Stack>
        )
      }
    </QueryState>
  );
}
