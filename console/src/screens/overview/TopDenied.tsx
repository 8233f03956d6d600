import { Group, Progress, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { overviewTexts } from '../../texts/overview.ts';
import { sentence } from '../../texts/sentence.ts';

const texts = overviewTexts.topDenied;

type Denied = NonNullable<Schemas['admin.Analytics']['topDenied']>['denied'];

/** The combinations of role, action and resource with most denials, as bars. Each opens its entries. */
export function TopDenied({ denied, from }: { readonly denied: Denied; readonly from: string }) {
  if (denied.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  const most = Math.max(...denied.map(({ count }) => count));
  return (
    <Stack gap="xs">
      {denied.map(({ action, resource, role, count }) => (
        <div key={`${role} ${action} ${resource}`}>
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <TextLink to="/decisions" search={{ allowed: false, action, resource, role, from }} size="sm" truncate>
              {sentence`${role} · ${action} ${resource}`}
            </TextLink>
            <Text size="sm">{count.toLocaleString()}</Text>
          </Group>
          <Progress value={(100 * count) / most} color="red" size="xs" aria-hidden="true" />
        </div>
      ))}
    </Stack>
  );
}
