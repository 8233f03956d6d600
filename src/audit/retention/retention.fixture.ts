import { type Sql, sql } from '../../sql.ts';
import { openUrl } from '../../storage/storage.fixture.ts';
import { type AuditEntry, appendAuditEntries, createEntryId } from '../index.ts';
import { type TestAuditLog, testEntry } from '../integrity/integrity.fixture.ts';

export const DAY: number = 24 * 60 * 60_000;
export const TODAY: number = Date.now();
/** Returns the day of a time (UTC), such as `2026-01-31`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** Four recent days: the chains of the tests begin now, and an entry can be at most a week older than its chain. */
export const D1: string = dayOf(TODAY - 5 * DAY);
export const D2: string = dayOf(TODAY - 4 * DAY);
export const D3: string = dayOf(TODAY - 3 * DAY);
export const D4: string = dayOf(TODAY - 2 * DAY);

/** Creates an entry with the given time. */
export const entryAt = (at: string, reason: string = at): AuditEntry => ({ ...testEntry(2), id: createEntryId(), at, reason });

/** Appends `count` entries per day: those of each day to a chain of their own, and those of all days to a further chain. */
export async function fillDays(record: TestAuditLog, days: readonly string[], count: number): Promise<void> {
  const times = days.flatMap((day) => Array.from({ length: count }, (_, n) => new Date(Date.parse(day) + n * 1000).toISOString()));
  const groups = [...days.map((day) => times.filter((time) => time.startsWith(day))), times];
  for (const group of groups) {
    const other = openUrl(record.url);
    for (let from = 0; from < group.length; from += 7) {
      await other.transaction(async (tx) =>
        appendAuditEntries(
          tx,
          group.slice(from, from + 7).map((time) => entryAt(time)),
        ),
      );
    }
    await other.close();
  }
}

/** Returns the statement that counts denials which repeat an entry of the first day. */
export const countRepeats = (first: string | undefined, count: number): Sql => sql`
  insert into "_RepeatedDenial" ("id", "first", "writer", "resource", "action", "network", "since", "last", "endsAt", "count")
  values ('d', ${first}, 'w', 'Article', 'read', '192.0.2.0/24', ${D1}, ${D1}, ${D1}, ${count})`;
