/**
 * Instants, calendar dates, durations and times of day, as text. Nothing here is lenient: a date that the calendar
 * lacks, or an instant without an offset, is no value at all, because guessing would decide access.
 */

/** The first instant that a year of four digits can write; from here to LAST_INSTANT, canonical text sorts as time does. */
export const FIRST_INSTANT: number = Date.UTC(2000, 0, 1) - 730_485 * 86_400_000;
/** The last one. */
export const LAST_INSTANT: number = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})$/;
const SHORT_DURATION = /^(\d{1,9})(s|m|h|d|w)$/;
const ISO_DURATION = /^P(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', SECOND],
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
  ['w', WEEK],
]);

/** `2024-05-01T10:00:00+02:00` → milliseconds since 1970; what lies below milliseconds is cut off. Undefined where the text is no instant. */
export function readInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (match === null) return undefined;
  const [, date = '', hour, minute, second = '0', fraction = '', offset = 'Z'] = match;
  const day = readDate(date);
  const shift = readOffset(offset);
  if (day === undefined || shift === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const instant = day + Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * SECOND + milliseconds - shift;
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? instant : undefined;
}

/** The one way instants are written: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function toInstantText(instant: number): string {
  return new Date(Math.min(Math.max(instant, FIRST_INSTANT), LAST_INSTANT)).toISOString();
}

/** `2024-02-29` → its midnight in UTC, as milliseconds since 1970. Undefined where the calendar has no such day. */
export function readDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const midnight = Date.parse(`${text}T00:00:00.000Z`);
  // JavaScript reads February 30 as March 1: only a date that is written back as it was read exists.
  return Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(text) ? undefined : midnight;
}

/**
 * `PT24H`, `P7D`, `P1W`, `90s`, `30m`, `24h`, `7d`, `2w` → milliseconds. A day has 24 hours. Years and months have no
 * fixed length and are not durations. Undefined where the text is none.
 */
export function readDuration(text: string): number | undefined {
  const short = SHORT_DURATION.exec(text);
  if (short !== null) return Number(short[1]) * (UNITS.get(short[2] ?? '') ?? Number.NaN);
  const iso = ISO_DURATION.exec(text);
  if (iso === null || text.endsWith('P') || text.endsWith('T')) return undefined;
  const [, weeks, days, hours, minutes, seconds] = iso.map((part) => Number(part ?? 0));
  return (weeks ?? 0) * WEEK + (days ?? 0) * DAY + (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + (seconds ?? 0) * SECOND;
}

/** `22:00` or `22:00:30` → milliseconds since midnight. Undefined where the text is no time of day. */
export function readTimeOfDay(text: string): number | undefined {
  const match = TIME_OF_DAY.exec(text);
  return match === null ? undefined : Number(match[1]) * HOUR + Number(match[2]) * MINUTE + Number(match[3] ?? 0) * SECOND;
}

function readOffset(offset: string): number | undefined {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
}
