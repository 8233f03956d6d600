import { join } from 'node:path';
import { logIn, setUp } from '../../test/process/program.ts';
import { openFilling } from '../fill.ts';
import { fillPersons } from '../fill-policies.ts';
import { startService } from '../service.ts';
import { type Growing, powersOfTen } from './sizes.ts';

/** Grows the number of policies and users; each user has one policy. */
export const byPolicies: Growing = {
  name: 'policies',
  sizes: ({ growPolicies }) => powersOfTen(Math.min(100, growPolicies), growPolicies),
  async fill(folder, size) {
    const database = `sqlite:${join(folder, 'bailiwick.db')}`;
    const first = await startService(folder, database);
    await setUp(first.url);
    const filling = await openFilling(database);
    const { toArticleId } = await fillPersons(filling, size);
    await filling.close();
    const token = await logIn(first.url, 'u1@example.com');
    await first.stop();
    const headers = { authorization: `Bearer ${token}` };
    const calls = new Map([
      ['read by id', { headers, toRequest: () => ({ method: 'GET' as const, path: `/api/Article/${toArticleId(1)}` }) }],
      ['list of 20', { headers, toRequest: () => ({ method: 'GET' as const, path: '/api/Article?limit=20' }) }],
    ]);
    return { name: `${size.toLocaleString('en')} policies`, folder, database, calls };
  },
};
