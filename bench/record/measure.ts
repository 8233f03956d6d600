import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres/server.ts';
import { withSchema } from '../../test/postgres/test-database.ts';
import { hasContestant, installContestants } from '../contestants/install.ts';
import { moveTo } from '../cores.ts';
import { CERBOS } from '../decide/cerbos.ts';
import { appendInFlight, openRecord } from '../entries.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { type Racer, race } from '../rounds.ts';
import { quantile } from '../statistics.ts';
import { measureLoss } from './loss.ts';

/** Numbers of concurrent transactions. */
const IN_FLIGHT = [1, 8, 64];
/** Divides the number of measured entries to get that of the warm-up. */
const WARM_SHARE = 10;
const PARTS = ['append', 'loss'] as const;

/** Measures the speed of durable audit entries, and their loss in a crash. */
export const record: Measurement = {
  name: 'record',
  description:
    'Audit entries per second, each in a transaction of its own with a durable commit (`synchronous=FULL`, `fsync=on`), and the number of answered decisions that are missing from the log after SIGKILL.',
  optionNames: ['rounds', 'seconds', 'entries'],
  async run(options, onFigure) {
    const parts = pick(options, PARTS);
    if (parts.includes('append')) await measureAppending(options, onFigure);
    installContestants();
    if (parts.includes('loss') && hasContestant(CERBOS)) await measureLoss(options, onFigure);
  },
};

async function measureAppending(options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  moveTo('server');
  const server = await startPostgres();
  const sqlite = await openRecord(`sqlite:${join(folder, 'record.db')}`);
  const postgres = await openRecord(withSchema(server.url));
  // This process is measured, so it does not share the cores of the database server.
  moveTo('load');
  try {
    for (const inFlight of IN_FLIGHT) {
      // With few concurrent transactions each commit syncs fewer entries, so fewer are appended in the same time.
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
            await appendInFlight({ database, count, inFlight, onCommitted: (waited) => waits.push(waited) });
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
        onFigure({ measurement: 'record', case: 'append', setting, contestant: name, unit: 'entries/s', better: 'more', rounds, beside });
      }
    }
  } finally {
    await sqlite.close();
    await postgres.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
