import { join } from 'node:path';
import { numbersTo, openFilling } from '../fill.ts';
import { callsOf, fillArticles } from '../http/bailiwick.ts';
import type { Call } from '../load.ts';
import { prepareCaller, startService } from '../service.ts';
import type { Growing } from './sizes.ts';

const DAYS = 30;
/** Rows per statement; SQLite keeps uncommitted rows in its write-ahead log. */
const CHUNK = 500_000;

/** Grows the audit log. */
export const byEntries: Growing = {
  name: 'entries',
  sizes: ({ growEntries }) => [Math.max(1, growEntries / 100), growEntries],
  async fill(folder, size) {
    const database = `sqlite:${join(folder, 'bailiwick.db')}`;
    const first = await startService(folder, database);
    const { caller, token, admin } = await prepareCaller(first.url, ['read', 'list']);
    await first.stop();
    const world = { folder, records: 1000, own: 200, postgres: '' };
    await fillArticles(database, world, caller);
    await fillEntries(database, size);
    const own = callsOf(world, caller, token);
    const headers = { authorization: `Bearer ${admin}` };
    const get = (path: string) => ({ headers, toRequest: () => ({ method: 'GET' as const, path }) });
    return {
      name: `${size.toLocaleString('en')} entries`,
      folder,
      database,
      calls: new Map<string, Call>([
        ['analytics of 7 days', get('/admin/api/policies-analytics?timeframe=7d')],
        ['analytics of 30 days', get('/admin/api/policies-analytics?timeframe=30d')],
        ['decisions of a user', get('/admin/api/decisions?userId=u17&limit=20')],
        ['denials', get('/admin/api/decisions?allowed=false&limit=20')],
        ['read by id', own['read by id']],
      ]),
    };
  },
};

/** Inserts entries of the last days, of 100 users on 10 resources, and their hourly counts. Their hashes are not valid, because nothing verifies them here. */
async function fillEntries(database: string, size: number): Promise<void> {
  const filling = await openFilling(database);
  const perSecond = (DAYS * 86_400) / size;
  for (let from = 0; from < size; from += CHUNK) {
    const count = Math.min(CHUNK, size - from);
    await filling.exec(`INSERT INTO "_Decision" ("id", "at", "kind", "userId", "role", "resource", "action", "recordId", "allowed", "reason",
        "ruleId", "policyId", "epoch", "requestId", "ip", "facts", "writer", "sequence", "hash")
      ${numbersTo(count)} SELECT 'e' || (1000000000 + ${from} + i), strftime('%Y-%m-%dT%H:%M:%fZ', unixepoch('now') - ${DAYS * 86_400} + CAST((${from} + i) * ${perSecond} AS INTEGER), 'unixepoch'),
        'access', 'u' || (i % 100), 'user', 'Resource' || (i % 10), 'read', 'a' || i, i % 7 > 0, 'allowed by rule "own" of policy "own"',
        'r1', 'p1', 1, 'q' || i, '192.0.2.1', '{"resource.authorId":"u1","user.id":"u1"}', 'bench', ${from} + i, 'none' FROM n`);
  }
  await filling.exec(`INSERT INTO "_DecisionHour" ("id", "hour", "resource", "grants", "denials")
    SELECT substr("at", 1, 13) || ' ' || "resource", substr("at", 1, 13) || ':00:00.000Z', "resource", sum("allowed"), sum(1 - "allowed")
    FROM "_Decision" WHERE "writer" = 'bench' GROUP BY 1, 2, 3`);
  await filling.close();
}
