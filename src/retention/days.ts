const DAY = 24 * 60 * 60_000;

/** Days for which entries stay, whatever is asked for: what began then may still be appended. */
const LEAST = 1;

/** The first day whose entries stay, by UTC, where all that are younger than so many days do: `2026-01-31`. */
export function lastDay(now: number, days: number = LEAST): string {
  return new Date(now - days * DAY).toISOString().slice(0, 10);
}
