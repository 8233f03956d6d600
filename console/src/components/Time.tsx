import { Text, Tooltip } from '@mantine/core';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A moment in local time, with UTC in its tooltip. */
export function Time({ at }: { readonly at: string | number | undefined | null }) {
  if (at === undefined || at === null)
    return (
      <Text span c="dimmed">
        —
      </Text>
    );
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{String(at)}</>;
  return (
    <Tooltip label={date.toISOString()}>
      <time dateTime={date.toISOString()} style={{ whiteSpace: 'nowrap' }}>
        {LOCAL.format(date)}
      </time>
    </Tooltip>
  );
}
