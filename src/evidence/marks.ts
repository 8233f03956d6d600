import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';

const BEFORE_SERVICE = 'checkpoint ';

/** Notes the last line of a service's checkpoint file, by its hash, so that lines taken away from its end are missed. */
export async function keepMark(tx: Transaction, service: string, line: string): Promise<void> {
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${BEFORE_SERVICE + service}, ${line})
    on conflict ("id") do update set "text" = excluded."text"`);
}

/** The line that was noted last, by service. */
export async function loadMarks(tx: Transaction): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.all<{ id: string; text: string }>(sql`
    select "id", "text" from "_State" where "id" like ${`${BEFORE_SERVICE}%`}`);
  return new Map(rows.map(({ id, text }) => [id.slice(BEFORE_SERVICE.length), text]));
}

/** Another with each restore of a backup: then entries that were signed may be gone. */
export async function loadRestored(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = 'restored'`);
  return row?.text;
}
