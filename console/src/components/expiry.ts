/** The time at which an assignment expires, in a field for local time. */
import { fromLocalTime, toLocalTime } from './local-time.ts';

/** Returns the value of the field for an expiry, without the parts of a second; an empty text for none. */
export function fromExpiry(expiresAt: string | undefined): string {
  return toLocalTime((expiresAt ?? '').replace(/\.\d+Z$/, 'Z')) ?? '';
}

/** Returns the time of the field for the API; null for no expiry. A field that was not changed gives the former expiry, with its milliseconds. */
export function toExpiry(value: string, former?: string): string | null {
  if (former !== undefined && value === fromExpiry(former)) return former;
  return value === '' ? null : fromLocalTime(value, former);
}
