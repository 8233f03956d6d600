import type { PathKind } from '../../conditions/index.ts';
import { type Json, type Kind, toInstantText } from '../../operators/index.ts';

/** The name of a member of `environment.…`: a part of the time of a request, or its address. */
export type EnvironmentValue = 'timestamp' | 'date' | 'hour' | 'minute' | 'dayOfWeek' | 'ip';

/** Kinds of the members of `environment.…`. */
export const ENVIRONMENT_KINDS: ReadonlyMap<string, Kind> = new Map<EnvironmentValue, Kind>([
  ['timestamp', 'timestamp'],
  ['date', 'date'],
  ['hour', 'number'],
  ['minute', 'number'],
  ['dayOfWeek', 'number'],
  ['ip', 'text'],
]);

/** Returns the kind of a path of the environment or the request: all numbers there are integers. */
export function toPathKind(kind: Kind): PathKind {
  return kind === 'number' ? { kind, whole: true } : { kind };
}

/** Time and address from which the values of `environment.…` are derived. */
interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA name of the time zone of the service. */
  readonly timeZone: string;
  readonly ip: string;
}

/** Returns one value of `environment.…`; undefined if no member has the name. Computed on demand: most conditions read no environment. */
export function toEnvironmentValue(name: string, moment: Moment): Json | undefined {
  switch (name) {
    case 'ip':
      return moment.ip;
    case 'timestamp':
      return toInstantText(moment.now);
    case 'date':
      return localTime(moment).date;
    case 'hour':
      return localTime(moment).hour;
    case 'minute':
      return localTime(moment).minute;
    case 'dayOfWeek':
      return localTime(moment).dayOfWeek;
    default:
      return undefined;
  }
}

interface LocalTime {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly hour: number;
  readonly minute: number;
  /** ISO 8601: 1 is Monday, 7 is Sunday. */
  readonly dayOfWeek: number;
}

/** The local time that was computed last. All rules of a decision, and all requests within the same second, share it. */
let last: { readonly second: number; readonly timeZone: string; readonly time: LocalTime } | undefined;

function localTime({ now, timeZone }: Moment): LocalTime {
  const second = Math.floor(now / 1000);
  if (last?.second !== second || last.timeZone !== timeZone) last = { second, timeZone, time: toLocalTime(now, formatOf(timeZone)) };
  return last.time;
}

function toLocalTime(now: number, format: Intl.DateTimeFormat): LocalTime {
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  const padded = (name: Intl.DateTimeFormatPartTypes, length: number) => String(parts.get(name) ?? 0).padStart(length, '0');
  const date = `${padded('year', 4)}-${padded('month', 2)}-${padded('day', 2)}`;
  return {
    date,
    hour: parts.get('hour') ?? 0,
    minute: parts.get('minute') ?? 0,
    // getUTCDay counts from Sunday, 0.
    dayOfWeek: new Date(`${date}T00:00:00Z`).getUTCDay() || 7,
  };
}

/** Formatters by IANA name of the time zone. The time zone is configured, so the map usually has one entry. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}
