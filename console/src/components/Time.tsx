import { Text } from '@mantine/core';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** For logs: with seconds, and without the year. */
const EXACT = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** Properties of a moment. */
interface TimeProps {
  readonly at: string | number | undefined | null;
  /** Shows seconds instead of the year. */
  readonly isExact?: boolean;
}

/** A moment in local time, with UTC in the tooltip. It is that of the browser, because tables show many moments. */
export function Time({ at, isExact = false }: TimeProps) {
  if (at === undefined || at === null)
    return (
      <Text span c="dimmed">
        —
      </Text>
    );
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{String(at)}</>;
  const utc = date.toISOString();
  return (
    <time dateTime={utc} title={utc} className="unbroken">
      {(isExact ? EXACT : LOCAL).format(date)}
    </time>
  );
}
