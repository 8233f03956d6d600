/** Instants in fields for local time. */

/** Returns an instant as the value of a field for local time; undefined if the field would lose a part of it. */
export function toLocalTime(instant: string): string | undefined {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime()) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.0+)?Z$/.test(instant)) return undefined;
  const year = date.getFullYear();
  // Fields have no other years.
  if (year < 1 || year > 9999) return undefined;
  // The offset of a date is in whole minutes, but time zones had seconds once.
  const day = [padded(year, 4), padded(date.getMonth() + 1, 2), padded(date.getDate(), 2)].join('-');
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => padded(part, 2)).join(':')}`;
}

/**
 * Returns the value of a field for local time as an instant; an empty text for an empty field. A time that occurs twice, because clocks are set
 * back, is the instant nearest to the former one of the field, or else the first.
 */
export function fromLocalTime(local: string, former = ''): string {
  const first = new Date(local);
  if (Number.isNaN(first.getTime())) return '';
  const second = secondReading(first);
  const distance = (date: Date): number => Math.abs(date.getTime() - Date.parse(former));
  return toInstant(distance(second) < distance(first) ? second : first);
}

/** Milliseconds, 3 hours, after which the offset from UTC is the later one if clocks are set back meanwhile. */
const CHANGE = 3 * 3_600_000;

/** Returns the second instant of a local time that occurs twice; the same instant for other times. */
function secondReading(first: Date): Date {
  const offset = new Date(first.getTime() + CHANGE).getTimezoneOffset() - first.getTimezoneOffset();
  const second = new Date(first.getTime() + offset * 60_000);
  return toLocalTime(toInstant(second)) === toLocalTime(toInstant(first)) ? second : first;
}

function toInstant(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

function padded(part: number, digits: number): string {
  return String(part).padStart(digits, '0');
}
