import { numbersTo, openFilling } from './fill.ts';

/** Entries to insert into the audit log, evenly over the last seconds. */
export interface EntriesToFill {
  readonly count: number;
  readonly seconds: number;
}

/** Rows per statement; SQLite keeps uncommitted rows in its write-ahead log. */
const CHUNK = 500_000;

/** Inserts entries of 100 users about 10 resources, and their hourly counts. Their hashes are not valid, because nothing verifies them here. */
export async function fillEntries(database: string, { count: total, seconds }: EntriesToFill): Promise<void> {
  const filling = await openFilling(database);
  const { isServer } = filling;
  for (let from = 0; from < total; from += CHUNK) {
    const count = Math.min(CHUNK, total - from);
    const offset = `CAST((${from} + i) * ${seconds / total} AS INTEGER) - ${seconds}`;
    const at = isServer
      ? `to_char(now() AT TIME ZONE 'UTC' + (${offset}) * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : `strftime('%Y-%m-%dT%H:%M:%fZ', unixepoch('now') + ${offset}, 'unixepoch')`;
    await filling.exec(`INSERT INTO "_Decision" ("id", "at", "kind", "userId", "role", "resource", "action", "recordId", "allowed", "reason",
        "ruleId", "policyId", "epoch", "requestId", "ip", "facts", "writer", "sequence", "hash")
      ${numbersTo(count)} SELECT '00000000-0000-7000-8000-' || (100000000000 + ${from} + i), ${at},
        'access', 'u' || (i % 100), 'user', 'Resource' || (i % 10), 'read', 'a' || i, i % 7 > 0, 'allowed by rule "own" of policy "own"',
        'r1', 'p1', 1, 'q' || i, '192.0.2.1', '{"resource.authorId":"u1","user.id":"u1"}', 'bench', ${from} + i, 'none' FROM n`);
  }
  const [grants, denials] = ['CASE WHEN "allowed" THEN 1 ELSE 0 END', 'CASE WHEN "allowed" THEN 0 ELSE 1 END'];
  await filling.exec(`INSERT INTO "_DecisionHour" ("id", "hour", "resource", "grants", "denials")
    SELECT substr("at", 1, 13) || ' ' || "resource", substr("at", 1, 13) || ':00:00.000Z', "resource", sum(${grants}), sum(${denials})
    FROM "_Decision" WHERE "writer" = 'bench' GROUP BY 1, 2, 3`);
  if (isServer) await filling.exec('ANALYZE "_Decision"');
  await filling.close();
}
