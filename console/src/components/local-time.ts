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

/** Returns the value of a field for local time as an instant; an empty text for an empty field. */
export function fromLocalTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z');
}

function padded(part: number, digits: number): string {
  return String(part).padStart(digits, '0');
}
