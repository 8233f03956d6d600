import { join } from 'node:path';
import { fillEntries } from '../fill-entries.ts';
import { callsOf, fillArticles } from '../http/bailiwick.ts';
import type { Call } from '../load.ts';
import { prepareCaller, startService } from '../service.ts';
import type { Growing } from './sizes.ts';

const SECONDS = 30 * 86_400;

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
    await fillEntries(database, { count: size, seconds: SECONDS });
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
