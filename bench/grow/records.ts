import { join } from 'node:path';
import { callsOf, fillArticles } from '../http/bailiwick.ts';
import { prepareCaller, startService } from '../service.ts';
import { type Growing, powersOfTen } from './sizes.ts';

/** Grows the table; the number of the caller's records stays the same. */
export const byRecords: Growing = {
  name: 'records',
  sizes: ({ growRecords }) => powersOfTen(Math.min(10_000, growRecords), growRecords),
  async fill(folder, size) {
    const database = `sqlite:${join(folder, 'bailiwick.db')}`;
    const first = await startService(folder, database);
    const { caller, token } = await prepareCaller(first.url, ['read', 'list']);
    await first.stop();
    const world = { folder, records: size, own: Math.min(200, size), postgres: '' };
    await fillArticles(database, world, caller);
    const calls = callsOf(world, caller, token);
    const names = ['read by id', 'list of 20', 'list of 20, filter and sort', 'total'] as const;
    return { name: `${size.toLocaleString('en')} records`, folder, database, calls: new Map(names.map((name) => [name, calls[name]])) };
  },
};
