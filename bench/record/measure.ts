import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSchema } from '../../test/postgres/place.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import { hasContestant, installContestants } from '../contestants/install.ts';
import { CERBOS } from '../decide/cerbos.ts';
import { appendInFlight, openRecord } from '../entries.ts';
import type { Measurement, Tell } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { moveTo } from '../place.ts';
import { type Racer, race } from '../rounds.ts';
import { quantile } from '../statistics.ts';
import { measureLoss } from './loss.ts';

/** Requests that wait for a commit at any time. */
const IN_FLIGHT = [1, 8, 64];
/** Appended before measuring, as a share of what is measured. */
const WARM_SHARE = 10;
const PARTS = ['append', 'loss'] as const;

/** What durable entries cost, and what a crash costs of them. */
export const record: Measurement = {
  name: 'record',
  about:
    'Entries per second, each in a transaction of its own that is answered once it is on the disk (`synchronous=FULL`, `fsync=on`), and how many answered decisions are missing from the log after SIGKILL.',
  goesBy: ['rounds', 'seconds', 'entries'],
  async run(options, tell) {
    const parts = pick(options, PARTS);
    if (parts.includes('append')) await measureAppending(options, tell);
    installContestants();
    if (parts.includes('loss') && hasContestant(CERBOS)) await measureLoss(options, tell);
  },
};

async function measureAppending(options: Options, tell: Tell): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  moveTo('server');
  const server = await startPostgres();
  const sqlite = await openRecord(`sqlite:${join(folder, 'record.db')}`);
  const postgres = await openRecord(withSchema(server.url));
  // Here the one who appends is who is measured: the server of its database has the other cores.
  moveTo('load');
  try {
    for (const inFlight of IN_FLIGHT) {
      // One at a time is a sync of the disk each: fewer of them tell as much.
      const count = Math.max(1, Math.round((options.entries * inFlight) / Math.max(...IN_FLIGHT)));
      const racers = [
        { name: 'SQLite', database: sqlite },
        { name: 'PostgreSQL', database: postgres },
      ].map(
        ({ name, database }): Racer => ({
          name,
          async turn() {
            const waits: number[] = [];
            const began = performance.now();
            await appendInFlight({ database, count, inFlight, told: (waited) => waits.push(waited) });
            const seconds = (performance.now() - began) / 1000;
            return { value: count / seconds, beside: { 'p50 ms': quantile(waits, 0.5), 'p99 ms': quantile(waits, 0.99) } };
          },
        }),
      );
      for (const { database } of [{ database: sqlite }, { database: postgres }]) {
        await appendInFlight({ database, count: Math.ceil(count / WARM_SHARE), inFlight });
      }
      for (const { name, rounds, beside } of await race(racers, options.rounds)) {
        const setting = `${inFlight} in flight`;
        tell({ measurement: 'record', case: 'append', setting, contestant: name, unit: 'entries/s', better: 'more', rounds, beside });
      }
    }
  } finally {
    await sqlite.close();
    await postgres.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
