/**
 * Parses instants, calendar dates, durations and times of day. The parsers are strict: a date that the calendar does not have, or an
 * instant without an offset, is invalid, because a guess could grant access.
 */

const TWO_THOUSAND_YEARS = 730_485 * 86_400_000;

/** The first instant with a year of four digits. Between it and LAST_INSTANT, canonical texts have the order of their instants. */
export const FIRST_INSTANT: number = Date.UTC(2000, 0, 1) - TWO_THOUSAND_YEARS;
/** The last instant with a year of four digits. */
export const LAST_INSTANT: number = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
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

/** Parses `2024-05-01T10:00:00+02:00` to milliseconds since 1970. Fractions of a millisecond are truncated. Returns undefined for other texts. */
export function parseInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const zone = text.endsWith('Z') ? text.length - 1 : text.length - 6;
  const day = parseDate(text.slice(0, 10));
  const shift = parseOffset(text, zone);
  const [hour, minute, second] = [digitsAt(text, 11, 2), digitsAt(text, 14, 2), zone < 19 ? 0 : digitsAt(text, 17, 2)];
  if (day === undefined || shift === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const digits = Math.min(3, Math.max(0, zone - 20));
  const milliseconds = digitsAt(text, 20, digits) * 10 ** (3 - digits);
  const instant = day + hour * HOUR + minute * MINUTE + second * SECOND + milliseconds - shift;
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? instant : undefined;
}

/** The second that was rendered last, and its text up to the decimal point. Most rendered instants are the current time. */
let written = { second: Number.NaN, text: '' };

/** Renders an instant in the canonical form `YYYY-MM-DDTHH:mm:ss.sssZ`. An instant out of range becomes FIRST_INSTANT or LAST_INSTANT. */
export function toInstantText(instant: number): string {
  const at = Math.trunc(Math.min(Math.max(instant, FIRST_INSTANT), LAST_INSTANT));
  const second = Math.floor(at / SECOND);
  if (written.second !== second) written = { second, text: new Date(second * SECOND).toISOString().slice(0, -4) };
  return `${written.text}${String(at - second * SECOND).padStart(3, '0')}Z`;
}

/** Parses `2024-02-29` to its midnight in UTC, in milliseconds since 1970. Returns undefined for a day that the calendar does not have. */
export function parseDate(text: string): number | undefined {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return undefined;
  const [year, month, day] = [digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2)];
  const isDay = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(month, year);
  // Date.UTC maps years 0 to 99 to 1900 to 1999. The calendar repeats every 400 years, so the day is computed 2000 years later.
  return isDay ? Date.UTC(year + 2000, month - 1, day) - TWO_THOUSAND_YEARS : undefined;
}

/** Parses `count` digits; NaN if a character is not a digit. Works on char codes without allocation, because decisions compare dates. */
function digitsAt(text: string, from: number, count: number): number {
  let number = 0;
  for (let index = from; index < from + count; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Parses `PT24H`, `P7D`, `P1W`, `90s`, `30m`, `24h`, `7d` or `2w` to milliseconds. A day has 24 hours. Years and months are not accepted,
 * because they have no fixed length. Returns undefined for other texts.
 */
export function parseDuration(text: string): number | undefined {
  const short = SHORT_DURATION.exec(text);
  if (short !== null) return Number(short[1]) * (UNITS.get(short[2] ?? '') ?? Number.NaN);
  const iso = ISO_DURATION.exec(text);
  if (iso === null || text.endsWith('P') || text.endsWith('T')) return undefined;
  const [, weeks, days, hours, minutes, seconds] = iso.map((part) => Number(part ?? 0));
  return (weeks ?? 0) * WEEK + (days ?? 0) * DAY + (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + (seconds ?? 0) * SECOND;
}

/** Parses `22:00` or `22:00:30` to milliseconds since midnight. Returns undefined for other texts. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = TIME_OF_DAY.exec(text);
  return match === null ? undefined : Number(match[1]) * HOUR + Number(match[2]) * MINUTE + Number(match[3] ?? 0) * SECOND;
}

/** Parses `Z` or `+01:00` at index `at` to milliseconds; undefined if the offset is invalid. */
function parseOffset(text: string, at: number): number | undefined {
  if (text[at] === 'Z') return 0;
  const [hours, minutes] = [digitsAt(text, at + 1, 2), digitsAt(text, at + 4, 2)];
  return hours > 23 || minutes > 59 ? undefined : (text[at] === '-' ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
}
