import { openUrl } from '../../storage/storage.fixture.ts';
import { type AuditEntry, appendAuditEntries, createEntryId } from '../index.ts';
import { type TestAuditLog, testEntry } from '../integrity/integrity.fixture.ts';

export const DAY: number = 24 * 60 * 60_000;
export const TODAY: number = Date.now();
/** The day of a time, by UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** Four days, of which the last is not over for long: chains are no older than now, and nothing in them by more than a week. */
export const D1: string = dayOf(TODAY - 5 * DAY);
export const D2: string = dayOf(TODAY - 4 * DAY);
export const D3: string = dayOf(TODAY - 3 * DAY);
export const D4: string = dayOf(TODAY - 2 * DAY);

/** An entry of a time. */
export const entryAt = (at: string, reason: string = at): AuditEntry => ({ ...testEntry(2), id: createEntryId(), at, reason });

/** Each day's entries in a chain of their own, and all of them in another. */
export async function fillDays(record: TestAuditLog, days: readonly string[], count: number): Promise<void> {
  const times = days.flatMap((day) => Array.from({ length: count }, (_, n) => new Date(Date.parse(day) + n * 1000).toISOString()));
  const groups = [...days.map((day) => times.filter((time) => time.startsWith(day))), times];
  for (const group of groups) {
    const other = openUrl(record.url);
    for (let from = 0; from < group.length; from += 7) {
      await other.transaction((tx) =>
        appendAuditEntries(
          tx,
          group.slice(from, from + 7).map((time) => entryAt(time)),
        ),
      );
    }
    await other.close();
  }
}
