/** Instants in fields for local time. */

/** Returns an instant as the value of a field for local time; undefined if the field would lose a part of it. */
export function toLocalTime(instant: string): string | undefined {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime()) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.0+)?Z$/.test(instant)) return undefined;
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Returns the value of a field for local time as an instant; an empty text for an empty field. */
export function fromLocalTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z');
}
